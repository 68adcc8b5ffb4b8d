import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createPlatformDatabase } from './platform-database.ts'
import type { PlatformDatabase, PlatformDatabaseOptions } from './platform-database.ts'

let database: PlatformDatabase | undefined
// By this clock statements are interrupted: it stands still while a busy machine takes its time.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => {
  vi.useRealTimers()
  database?.close()
  database = undefined
})

const NOW_MS = Date.UTC(2026, 0, 2, 3, 4, 5)

function open(options: Partial<PlatformDatabaseOptions> = {}): PlatformDatabase {
  database = createPlatformDatabase({ platform: 'linux', nowMs: () => NOW_MS, ...options })
  return database
}

/** What a statement selects, as an array of arrays. */
function select(opened: PlatformDatabase, node: number, sql: string): string[][] | string {
  const result = opened.tablesOf(node).query(sql)
  return result.outcome === 'rows'
    ? result.rows.map((row) => Object.values(row))
    : `${result.status}: ${result.message}`
}

describe('the platform database', () => {
  test('a node sees its own rows and its template’s, nobody else’s', () => {
    const opened = open()
    const template = opened.addNode({ users: [{ username: 'shared' }] })
    const first = opened.addNode({ groups: [{ groupname: 'first' }] }, template)
    const second = opened.addNode({ groups: [{ groupname: 'second' }] }, template)
    const sql = 'SELECT username, groupname FROM users, groups'
    expect(select(opened, first, sql)).toEqual([['shared', 'first']])
    expect(select(opened, second, sql)).toEqual([['shared', 'second']])
  })

  test('a change of one node leaves template and neighbours as they were', () => {
    const opened = open()
    const template = opened.addNode({ secureboot: [{ secure_boot: 1 }] })
    const changed = opened.addNode({}, template)
    const neighbour = opened.addNode({}, template)
    opened.applyChanges(changed, [
      { kind: 'set', table: 'secureboot', to: { secure_boot: 0 }, where: {} },
    ])
    const sql = 'SELECT secure_boot FROM secureboot'
    expect([changed, neighbour, template].map((node) => select(opened, node, sql))).toEqual([
      [['0']],
      [['1']],
      [['1']],
    ])
  })

  test('put replaces the row with the same key, remove takes rows away, both repeatably', () => {
    const opened = open()
    const node = opened.addNode({})
    const row = { path: '/etc/passwd', mode: '0644' }
    const put = { kind: 'put', table: 'file', row, key: ['path'] } as const
    opened.applyChanges(node, [put, put])
    expect(select(opened, node, 'SELECT path, mode FROM file')).toEqual([['/etc/passwd', '0644']])
    const remove = { kind: 'remove', table: 'file', where: { path: '/etc/passwd' } } as const
    opened.applyChanges(node, [remove, remove])
    expect(select(opened, node, 'SELECT path FROM file')).toEqual([])
  })

  test('every value is a string as osquery writes it', () => {
    const opened = open()
    const node = opened.addNode({})
    const sql = "SELECT 1, 9007199254740993, 2.0, 1 / 3.0, NULL, 'text', \"text\", x'6869'"
    expect(select(opened, node, sql)).toEqual([
      ['1', '9007199254740993', '2.0', '0.333333333333333', '', 'text', 'text', 'hi'],
    ])
  })

  test('errors carry SQLite’s code and message', () => {
    const opened = open()
    const node = opened.addNode({})
    expect(select(opened, node, 'SELECT * FROM alf')).toBe('1: no such table: alf')
    expect(select(opened, node, 'SELECT nope FROM users')).toBe('1: no such column: nope')
    expect(select(opened, node, 'SELEC')).toContain('syntax error')
  })

  test.each([
    ['DELETE FROM users'],
    ['DROP VIEW users'],
    ['CREATE TABLE mine (a)'],
    ['PRAGMA writable_schema = 1'],
    ["ATTACH DATABASE 'file.db' AS other"],
    ['SELECT * FROM rows_users'],
    ['SELECT * FROM sqlite_master'],
    ['WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n'],
  ])('refuses %s', (sql) => {
    const opened = open()
    const node = opened.addNode({ users: [{ username: 'kept' }] })
    expect(select(opened, node, sql)).toBeTypeOf('string')
    expect(select(opened, node, 'SELECT username FROM users')).toEqual([['kept']])
  })

  test('interrupts a statement that takes too long, each time it is run', () => {
    const nowMs = () => {
      vi.advanceTimersByTime(1_000)
      return NOW_MS
    }
    const opened = open({ queryMsMax: 400, nowMs })
    const rows = Array.from({ length: 300 }, (_, pid) => ({ pid }))
    const node = opened.addNode({ processes: rows, uptime: [{ total_seconds: 1 }] })
    const sql = 'SELECT SUM(total_seconds) FROM processes a, uptime, processes b'
    for (let time = 0; time < 3; time += 1) {
      expect(select(opened, node, sql)).toBe('9: interrupted')
    }
    expect(select(opened, node, 'SELECT COUNT(*) FROM processes')).toEqual([['300']])
  })

  test('fails a statement with too many rows', () => {
    const opened = open({ rowsMax: 10 })
    const node = opened.addNode({ processes: Array.from({ length: 11 }, (_, pid) => ({ pid })) })
    expect(select(opened, node, 'SELECT pid FROM processes')).toBe('18: too many rows')
  })

  test('time and uptime follow the clock', () => {
    let nowMs = NOW_MS
    const opened = open({ nowMs: () => nowMs })
    const node = opened.addNode({
      uptime: [{ total_seconds: NOW_MS / 1_000 - 90_061 }],
      time: [{ local_timezone: 'CET' }],
    })
    const sql = 'SELECT days, hours, minutes, seconds, total_seconds FROM uptime'
    expect(select(opened, node, sql)).toEqual([['1', '1', '1', '1', '90061']])
    nowMs += 1_000
    expect(select(opened, node, 'SELECT total_seconds FROM uptime')).toEqual([['90062']])
    expect(select(opened, node, 'SELECT iso_8601, weekday, local_timezone FROM time')).toEqual([
      ['2026-01-02T03:04:06Z', 'Friday', 'CET'],
    ])
  })

  test('registry paths compare without case, as on Windows', () => {
    const opened = open({ platform: 'windows' })
    const node = opened.addNode({
      registry: [{ path: 'HKEY_LOCAL_MACHINE\\Software\\A', data: '1' }],
    })
    const sql = "SELECT data FROM registry WHERE path = 'hkey_local_machine\\SOFTWARE\\a'"
    expect(select(opened, node, sql)).toEqual([['1']])
  })

  test.each([
    ["version_compare('1.0', '1.0')", '0'],
    ["version_compare('50.4.1b', '50.4.1c')", '-1'],
    ["version_compare('20.10a', '20.102')", '1'],
    ["version_compare('1.10', '1.9')", '1'],
    ["version_compare('4:1.1.0', '4:1.1.0-3', 'ARCH')", '0'],
    ["version_compare('1:1.2.13-2', '4.2.1', 'ARCH')", '1'],
    ["version_compare('1.0.0~rc2^2021', '1.0.0', 'RHEL')", '-1'],
    ["version_compare('22.07.5-2ubuntu1.3', '22.07.5-2ubuntu1.4', 'DPKG')", '-1'],
    ["version_compare('2:8.2.3995-1ubuntu2.9', '2:8.2.3995-1ubuntu2.3', 'DPKG')", '1'],
    ["regex_match('hello world. Goodbye', '(\\w+) \\w+', 1)", 'hello'],
    ["regex_split('a12b', '[0-9]+', 1)", 'b'],
    ["split('a.b:c', '.:', 2)", 'c'],
    ["split('a.b', '.', 5)", ''],
    ["concat('hello', NULL, ' ', 'world')", 'hello world'],
    ["concat_ws(' ', 'hello', NULL, 'world')", 'hello world'],
    ["inet_aton('1.0.1.5')", '16777477'],
    ["in_cidr_block('10.0.0.0/26', '10.0.0.24')", '1'],
    ["in_cidr_block('2001:db8::/48', '2001:db8:0:ffff::1')", '1'],
    ["in_cidr_block('10.0.0.0/26', '10.0.1.24')", '0'],
    ["to_base64('CPU0')", 'Q1BVMA=='],
    ["from_base64('Q1BVMA==')", 'CPU0'],
    ["from_base64('not base64!')", ''],
    ["md5('a')", '0cc175b9c0f1b6a831c399e269772661'],
    ['round(log(107372805120), 4)', '25.3996'],
  ])('%s is %j', (expression, value) => {
    const opened = open()
    expect(select(opened, opened.addNode({}), `SELECT ${expression} AS value`)).toEqual([[value]])
  })
})
