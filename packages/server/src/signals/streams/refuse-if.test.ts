import { expect, it } from 'vitest'
import { refusalOfIssues } from './refuse-if.ts'

it('a refusal tells in sentences what a parser found', () => {
  const issues = [
    { path: 'stream_id', message: 'must be a string' },
    { path: 'name', message: 'Must not be empty.' },
  ]
  expect(refusalOfIssues(issues)).toMatchObject({
    code: 'invalid_body',
    message: 'The body is not valid. stream_id: Must be a string. name: Must not be empty.',
    details: [
      { path: 'stream_id', message: 'Must be a string.' },
      { path: 'name', message: 'Must not be empty.' },
    ],
  })
})
