"""What the tests of the Deep Agents middleware stand on.

A test describes an agent as plain data (`agents`), and a `thread` runs it step by step. Each step is a process of its own,
with a new agent object, on a checkpointer that is named by a URL (`savers`). Tools write what they did to a file
(`effects`), so that effects are counted over processes and over `kill -9`. The model is a script (`model`).

Which interpreter is tested is a parameter, so that the same scenarios run on others (`interpreter`).

    pytest tests/langchain                                                     # some minutes
    CHRYSALID_LONG_TESTS=1 pytest tests/langchain/test_crash.py                # dies at every write, not at some
    CHRYSALID_TEST_INTERPRETER=langchain_quickjs pytest tests/langchain/test_faults.py -k "not postgres"

Wanted beside the package itself: deepagents, langgraph-checkpoint-sqlite with aiosqlite, langgraph-checkpoint-postgres with
psycopg, a PostgreSQL that can be started (the package pgserver, Debian's, or one on the PATH), pytest.
"""
