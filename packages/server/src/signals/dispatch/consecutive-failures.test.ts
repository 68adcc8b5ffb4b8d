import { expect, test } from 'vitest'
import { ConsecutiveFailures } from './consecutive-failures.ts'

test('counts from the last answer that was no failure', () => {
  const failures = new ConsecutiveFailures()
  for (const isFailure of [true, true, false, true]) failures.add(isFailure)
  expect(failures.count).toBe(1)
})

test('takes over that the database knows of fewer, and never of more', () => {
  const failures = new ConsecutiveFailures()
  for (let index = 0; index < 8; index += 1) failures.add(true)
  for (let index = 0; index < 8; index += 1) failures.noteRecorded()
  failures.beginLook()
  failures.learn(9)
  expect(failures.count).toBe(8)
  failures.learn(0)
  expect(failures.count).toBe(0)
})

test('keeps a failure that came while the database was asked, also when an answer before it was none', () => {
  const failures = new ConsecutiveFailures()
  failures.add(true)
  failures.noteRecorded()
  failures.beginLook()
  failures.add(false)
  failures.add(true)
  failures.learn(0)
  expect(failures.count).toBe(1)
})

test('keeps failures that the database did not know of when it was asked, also when it knows of them now', () => {
  const failures = new ConsecutiveFailures()
  for (let index = 0; index < 3; index += 1) failures.add(true)
  failures.noteRecorded()
  failures.beginLook()
  failures.noteRecorded()
  failures.noteRecorded()
  failures.learn(1)
  expect(failures.count).toBe(3)
})
