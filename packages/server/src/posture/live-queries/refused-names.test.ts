import { describe, expect, it } from 'vitest'
import { listRefusedNames } from './refused-names.ts'

const REFUSED = new Set(['curl', 'curl_certificate', 'carves', 'carve'])

describe('a refused name', () => {
  it.each([
    ["select * from curl where url = 'http://x/'", ['curl']],
    ['select * from CuRl', ['curl']],
    ['select * from "curl"', ['curl']],
    ['select * from `curl`', ['curl']],
    ['select * from [curl]', ['curl']],
    ["select * from 'curl'", ['curl']],
    ["select * from 'CURL' c", ['curl']],
    ["select * from main.'curl'", ['curl']],
    ['select * from main . curl', ['curl']],
    ["select * from users, 'curl' where 1", ['curl']],
    ["select * from users join 'curl' using (url)", ['curl']],
    ["select * from (users cross join 'curl')", ['curl']],
    ["select 1 in 'curl'", ['curl']],
    ['select * from users where uid in curl', ['curl']],
    ['select (select result from curl) from users', ['curl']],
    ['with a as (select * from curl) select * from a', ['curl']],
    ['with curl as (select 1) select * from curl', ['curl']],
    ["select * from curl('http://x/')", ['curl']],
    ["select * from 'curl'('http://x/')", ['curl']],
    ["select * from users as window, 'curl' where url = 1", ['curl']],
    ["select * from users window join 'curl'", ['curl']],
    ["select 1 from users, 'curl' window w as (order by uid)", ['curl']],
    ["select carve(path) from file where path = '/etc/passwd'", ['carve']],
    ['select * from/**/carves', ['carves']],
    ['select * from--x\ncarves join curl_certificate', ['carves', 'curl_certificate']],
    ['select curl.url from users curl', ['curl']],
  ])('is found in %s', (sql, names) => expect(listRefusedNames(sql, REFUSED)).toEqual(names))

  it.each([
    "select * from programs where name = 'curl'",
    "select * from programs where name in ('curl', 'carves')",
    "select * from programs where name like '%curl%' -- from curl",
    "select 'curl', 'carves' from programs /* from carves */",
    "select * from file where path = '/usr/bin/curl' or '/x' in (1, 'curl')",
    'select curls, my_curl from "curl certificate"',
  ])('is not found in %s', (sql) => expect(listRefusedNames(sql, REFUSED)).toEqual([]))

  it('may be any in a text that is no SQL, unless none is refused', () => {
    expect(listRefusedNames("select * from 'curl", REFUSED)).toEqual([...REFUSED].sort())
    expect(listRefusedNames("select * from 'curl", new Set())).toEqual([])
  })
})
