import { describe, expect, it } from 'vitest'
import {
  CASES,
  CASES_WITH_KNOB,
  KNOBS,
  PLATFORM_KNOBS,
  runOnDevice,
} from './support/simulated-checks.ts'

/** What depends on the day on which the test runs; `catalogue-verdicts.test.ts` covers it by dates. */
const DATED = new Set(['operating-system-supported'])

/** What no device can tell that is as most are: GNOME keeps its lock where osquery cannot read. */
const UNKNOWABLE = new Set(['linux-screen-lock'])

describe('the catalogue on simulated devices', () => {
  it.each(CASES)('$slug passes or does not apply on a good $flavor device', (entry) => {
    const rows = runOnDevice(entry.flavor, entry.sql)
    expect(rows).toHaveLength(1)
    if (DATED.has(entry.slug)) return
    const accepted = UNKNOWABLE.has(entry.slug) ? ['UNKNOWN'] : ['PASS', 'INAPPLICABLE']
    expect(accepted, JSON.stringify(rows)).toContain(rows[0]?.['KOLIDE_CHECK_STATUS'])
  })

  it.each(CASES_WITH_KNOB)('$slug fails on $flavor when the knob $knob is bad', (entry) => {
    const rows = runOnDevice(entry.flavor, entry.sql, entry.knob)
    expect(rows.length).toBeGreaterThan(0)
    expect(
      rows.map((row) => row['KOLIDE_CHECK_STATUS']),
      JSON.stringify(rows),
    ).toContain('FAIL')
  })

  it('turns every check that has a knob', () => {
    const knobs = new Set(CASES_WITH_KNOB.map(({ knob }) => knob))
    const wanted = [...Object.values(KNOBS), ...Object.values(PLATFORM_KNOBS)]
    expect(wanted.filter((knob) => !knobs.has(knob))).toEqual([])
  })
})
