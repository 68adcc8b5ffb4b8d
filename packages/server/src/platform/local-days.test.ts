import { expect, it } from 'vitest'
import { isTimeZone, listLocalDays } from './local-days.ts'

const at = (text: string) => new Date(text)

it('are those of UTC, from the one that holds the time', () => {
  expect(listLocalDays('UTC', at('2026-02-28T23:59:59.999Z'), 2)).toEqual([
    {
      date: '2026-02-28',
      beginsAt: at('2026-02-28T00:00:00Z'),
      endsAt: at('2026-03-01T00:00:00Z'),
    },
    {
      date: '2026-03-01',
      beginsAt: at('2026-03-01T00:00:00Z'),
      endsAt: at('2026-03-02T00:00:00Z'),
    },
  ])
})

it('begin at midnight of the zone, on the date that it is there', () => {
  expect(listLocalDays('Asia/Kolkata', at('2026-06-01T20:00:00Z'), 1)).toEqual([
    {
      date: '2026-06-02',
      beginsAt: at('2026-06-01T18:30:00Z'),
      endsAt: at('2026-06-02T18:30:00Z'),
    },
  ])
  expect(listLocalDays('America/Los_Angeles', at('2026-06-01T03:00:00Z'), 1)).toMatchObject([
    { date: '2026-05-31', beginsAt: at('2026-05-31T07:00:00Z') },
  ])
})

it('are an hour shorter or longer when the clocks change, also where they do at midnight', () => {
  expect(listLocalDays('Europe/Berlin', at('2026-03-29T12:00:00Z'), 1)).toMatchObject([
    { beginsAt: at('2026-03-28T23:00:00Z'), endsAt: at('2026-03-29T22:00:00Z') },
  ])
  expect(listLocalDays('Europe/Berlin', at('2026-10-25T12:00:00Z'), 1)).toMatchObject([
    { beginsAt: at('2026-10-24T22:00:00Z'), endsAt: at('2026-10-25T23:00:00Z') },
  ])
  // Clocks in Beirut went from 00:00 to 01:00 on this day.
  expect(listLocalDays('Asia/Beirut', at('2022-03-27T12:00:00Z'), 1)).toMatchObject([
    {
      date: '2022-03-27',
      beginsAt: at('2022-03-26T22:00:00Z'),
      endsAt: at('2022-03-27T21:00:00Z'),
    },
  ])
})

it('are known for names of zones only', () => {
  expect(['UTC', 'Europe/Berlin'].every(isTimeZone)).toBe(true)
  expect(['', 'Mars/Olympus', "x'; drop"].some(isTimeZone)).toBe(false)
})
