var await = 1; with (a) { 010 }
await