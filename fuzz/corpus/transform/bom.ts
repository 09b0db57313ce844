#!/usr/bin/env node
let a = 1