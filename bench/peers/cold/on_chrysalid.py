import chrysalid

print(chrysalid.Engine().session().run("1+1").value)
