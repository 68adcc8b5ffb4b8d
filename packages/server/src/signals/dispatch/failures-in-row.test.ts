import { expect, test } from 'vitest'
import { FailuresInRow } from './failures-in-row.ts'

test('counts from the last answer that was no failure', () => {
  const failures = new FailuresInRow()
  for (const isFailure of [true, true, false, true]) failures.add(isFailure)
  expect(failures.count).toBe(1)
})

test('takes over that the database knows of fewer, and never of more', () => {
  const failures = new FailuresInRow()
  for (let index = 0; index < 8; index += 1) failures.add(true)
  failures.beginLook()
  failures.learn(9)
  expect(failures.count).toBe(8)
  failures.learn(0)
  expect(failures.count).toBe(0)
})

test('keeps a failure that came while the database was asked, also when an answer before it was none', () => {
  const failures = new FailuresInRow()
  failures.add(true)
  failures.beginLook()
  failures.add(false)
  failures.add(true)
  failures.learn(0)
  expect(failures.count).toBe(1)
})
