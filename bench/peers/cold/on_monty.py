import pydantic_monty

with pydantic_monty.Monty() as pool, pool.checkout() as session:
    print(session.feed_run("1+1"))
