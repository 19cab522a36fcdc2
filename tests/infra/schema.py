"""Describes a database's schema in lines that are the same on every version of Postgres.

`python -m tests.infra.schema URL > tests/infra/schema.txt` writes the golden description.
"""

import asyncio
import sys
from pathlib import Path

import asyncpg

GOLDEN = Path(__file__).with_name("schema.txt")

# Monthly partitions come and go; they are made like their parent.
_DESCRIPTION = """
WITH mine AS (
    SELECT oid, relname, relkind, relacl, relowner FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relname !~ '^event_[0-9]{4}_[0-9]{2}'
)
SELECT format('column %s.%s %s%s%s', relname, attname, format_type(atttypid, atttypmod),
    CASE WHEN attnotnull THEN ' not null' END, ' default ' || pg_get_expr(adbin, adrelid))
FROM mine JOIN pg_attribute ON attrelid = mine.oid
    LEFT JOIN pg_attrdef ON adrelid = mine.oid AND adnum = attnum
WHERE relkind IN ('r', 'p') AND attnum > 0 AND NOT attisdropped
UNION ALL
SELECT format('type %s.%s %s', relname, attname, format_type(atttypid, atttypmod))
FROM mine JOIN pg_attribute ON attrelid = mine.oid WHERE relkind = 'c'
UNION ALL
SELECT 'constraint ' || relname || ' ' || pg_get_constraintdef(pg_constraint.oid)
FROM mine JOIN pg_constraint ON conrelid = mine.oid WHERE contype <> 'n'
UNION ALL
SELECT pg_get_indexdef(mine.oid) FROM mine WHERE relkind IN ('i', 'I')
UNION ALL
SELECT format('grant %s %s to %s', relname, string_agg(privilege_type, ' ' ORDER BY privilege_type), grantee::regrole)
FROM mine, aclexplode(relacl) WHERE grantee <> relowner GROUP BY relname, grantee
UNION ALL
SELECT format('function %s(%s) %s%s%s', proname, pg_get_function_arguments(oid), md5(coalesce(prosrc, '')),
    CASE WHEN prosecdef THEN ' as owner' END, ' set ' || array_to_string(proconfig, ' '))
FROM pg_proc WHERE pronamespace = 'public'::regnamespace
UNION ALL
SELECT format('grant %s execute to %s', proname, CASE grantee WHEN 0 THEN 'public' ELSE grantee::regrole::text END)
FROM pg_proc, aclexplode(coalesce(proacl, acldefault('f', proowner)))
WHERE pronamespace = 'public'::regnamespace AND grantee <> proowner
UNION ALL
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal
UNION ALL
SELECT format('partition %s of %s', inhrelid::regclass, inhparent::regclass)
FROM pg_inherits JOIN mine ON mine.oid = inhrelid WHERE relkind = 'r'
"""


async def describe(url: str) -> str:
    connection = await asyncpg.connect(url)
    try:
        return "".join(sorted(f"{row[0]}\n" for row in await connection.fetch(_DESCRIPTION)))
    finally:
        await connection.close()


if __name__ == "__main__":
    sys.stdout.write(asyncio.run(describe(sys.argv[1])))
