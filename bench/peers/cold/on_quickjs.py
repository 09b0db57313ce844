import quickjs

print(quickjs.Context().eval("1+1"))
