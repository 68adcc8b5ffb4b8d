import { describe, expect, it } from 'vitest'
import { explainFailure } from './explain-failure.ts'

const causeOf = (errorCode: string | null, statusCode: number | null) =>
  explainFailure({ errorCode, statusCode })?.cause

describe('why an attempt failed', () => {
  it('is told by its code first, and by the status of the answer where the code says no more', () => {
    expect(causeOf('certificate_expired', null)).toContain('expired')
    expect(causeOf('invalid_audience', 400)).toContain('another audience')
    expect(causeOf('http_404', 404)).toContain('nothing at the path')
    expect(causeOf('http_503', 503)).toContain('failed at the event')
    expect(causeOf('http_302', 302)).toContain('redirects')
    expect(causeOf('http_418', 418)).toContain('did not take')
    expect(causeOf('toString', null)).toBe('The attempt failed.')
  })

  it('is not told of an attempt that did not fail', () => {
    expect(explainFailure({ errorCode: null, statusCode: 202 })).toBeUndefined()
    expect(explainFailure({ errorCode: null, statusCode: null })).toBeUndefined()
  })
})
