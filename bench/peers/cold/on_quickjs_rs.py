import quickjs_rs

with quickjs_rs.Runtime() as runtime, runtime.new_context() as context:
    print(context.eval("1+1"))
