"""What SQLite has and PostgreSQL lacks, as functions and operators of the space's schema.

JSON is kept as text, as in a file, so that it comes back sign for sign. A path is `$` or `$.key` or `$."key"`.
"""

from __future__ import annotations

from typing import Final

DEFINITIONS: Final = (
    r"""CREATE FUNCTION json_numbers(text) RETURNS TABLE (value bigint) LANGUAGE sql IMMUTABLE AS
        $$ SELECT value::bigint FROM json_array_elements_text($1::json) AS value $$""",
    r"""CREATE FUNCTION json_elements(text) RETURNS TABLE (value text) LANGUAGE sql IMMUTABLE AS
        $$ SELECT value::text FROM json_array_elements($1::json) AS value $$""",
    # A text without what PostgreSQL has no sign for; else the JSON that says it.
    r"""CREATE FUNCTION json_plain(json) RETURNS text LANGUAGE sql IMMUTABLE AS
        $$ SELECT CASE WHEN json_typeof($1) = 'string' AND $1::text !~ '\\u0000' THEN $1 #>> '{}'
            WHEN json_typeof($1) <> 'null' THEN $1::text END $$""",
    r"""CREATE FUNCTION json_entries(text) RETURNS TABLE (id bigint, key text, value text) LANGUAGE sql IMMUTABLE AS
        $$ SELECT at, entry.key, json_plain(entry.value)
            FROM json_each($1::json) WITH ORDINALITY AS entry (key, value, at) $$""",
    r"""CREATE FUNCTION json_at(text, text) RETURNS json LANGUAGE sql IMMUTABLE AS
        $$ SELECT CASE WHEN $2 = '$' THEN $1::json
            WHEN json_typeof($1::json) = 'object'
                THEN $1::json -> regexp_replace($2, '^\$\."?(.*?)"?$', '\1') END $$""",
    r"""CREATE FUNCTION json_extract(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS
        $$ SELECT json_plain(json_at($1, $2)) $$""",
    r"""CREATE FUNCTION json_part(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS
        $$ SELECT json_at($1, $2)::text $$""",
    r"""CREATE FUNCTION json_whole(text, integer) RETURNS bigint LANGUAGE sql IMMUTABLE AS
        $$ SELECT ($1::json ->> $2)::bigint $$""",
    r"""CREATE FUNCTION json_type(text) RETURNS text LANGUAGE sql IMMUTABLE AS
        $$ SELECT CASE json_typeof($1::json) WHEN 'string' THEN 'text' WHEN 'boolean' THEN $1
            WHEN 'number' THEN CASE WHEN $1 ~ '[.eE]' THEN 'real' ELSE 'integer' END
            ELSE json_typeof($1::json) END $$""",
    r"""CREATE FUNCTION json_type(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS
        $$ SELECT json_type(json_at($1, $2)::text) $$""",
    r"""CREATE FUNCTION json_valid(text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$ SELECT $1 IS JSON $$""",
    r"""CREATE FUNCTION json_array_length(text) RETURNS bigint LANGUAGE sql IMMUTABLE AS
        $$ SELECT CASE WHEN json_typeof($1::json) = 'array' THEN json_array_length($1::json)
            WHEN $1 IS NOT NULL THEN 0 END $$""",
    r"""CREATE FUNCTION json_array_length(text, text) RETURNS bigint LANGUAGE sql IMMUTABLE AS
        $$ SELECT json_array_length(json_at($1, $2)::text) $$""",
    r"""CREATE FUNCTION json_remove(text, text) RETURNS text LANGUAGE sql IMMUTABLE AS
        $$ SELECT '{' || coalesce(string_agg(to_json(key)::text || ':' || value::text, ',' ORDER BY at), '') || '}'
            FROM json_each($1::json) WITH ORDINALITY AS entry (key, value, at)
            WHERE key <> regexp_replace($2, '^\$\.', '') HAVING $1 IS NOT NULL $$""",
    """CREATE FUNCTION iif(boolean, anycompatible, anycompatible) RETURNS anycompatible LANGUAGE sql IMMUTABLE AS
        $$ SELECT CASE WHEN $1 THEN $2 ELSE $3 END $$""",
    """CREATE FUNCTION differs(bigint, boolean) RETURNS boolean LANGUAGE sql IMMUTABLE AS
        $$ SELECT ($1 <> 0) <> $2 $$""",
    "CREATE FUNCTION max(bigint, bigint) RETURNS bigint LANGUAGE sql IMMUTABLE AS $$ SELECT greatest($1, $2) $$",
    "CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_extract)",
    "CREATE OPERATOR ->> (LEFTARG = text, RIGHTARG = integer, FUNCTION = json_whole)",
    "CREATE OPERATOR -> (LEFTARG = text, RIGHTARG = text, FUNCTION = json_part)",
    "CREATE OPERATOR <> (LEFTARG = bigint, RIGHTARG = boolean, FUNCTION = differs)",
)
