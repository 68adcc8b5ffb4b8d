import { describe, expect, test } from 'vitest'
import { median, medianRatio, percentile, summariseLatencies } from './statistics.ts'

describe('percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, index) => 100 - index)

  test('is the nearest rank, whatever the order of the values', () => {
    expect(percentile(hundred, 0.5)).toBe(50)
    expect(percentile(hundred, 0.99)).toBe(99)
    expect(percentile(hundred, 1)).toBe(100)
    expect(percentile([7], 0.99)).toBe(7)
  })

  test('sorts by value, not by text', () => {
    expect(percentile([9, 10, 100], 1)).toBe(100)
  })

  test('is 0 without values', () => {
    expect(percentile([], 0.5)).toBe(0)
  })
})

test('the median of an even count is a value that was measured', () => {
  expect(median([4, 1, 3, 2])).toBe(2)
})

test('a ratio compares what belongs to one round', () => {
  // The machine was busy in the first round: the medians alone would say 1.25.
  expect(medianRatio([5, 50, 80], [10, 100, 40])).toBe(0.5)
})

test('a summary names count, percentiles and maximum', () => {
  expect(summariseLatencies([3, 1, 2])).toEqual({ count: 3, p50: 2, p99: 3, max: 3 })
  expect(summariseLatencies([])).toEqual({ count: 0, p50: 0, p99: 0, max: 0 })
})
