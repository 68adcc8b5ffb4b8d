import { expect, it } from 'vitest'
import { AppError, invalidBody } from './app-error.ts'

it('the refusal of a body says each of its faults in a sentence, whatever words it was given', () => {
  const { code, message } = invalidBody([
    { path: 'email', message: 'is needed: the link makes the first admin' },
    { path: '', message: 'Must be a JSON object.' },
  ])
  expect(code).toBe('invalid_body')
  expect(message).toBe(
    'The body is not valid. email: Is needed: the link makes the first admin. Must be a JSON object.',
  )
})

it('a refusal tells in sentences what a parser found, in its text and in its details', () => {
  const issues = [
    { path: 'stream_id', message: 'must be a string' },
    { path: 'name', message: 'Must not be empty.' },
  ]
  const details = [
    { path: 'stream_id', message: 'Must be a string.' },
    { path: 'name', message: 'Must not be empty.' },
  ]
  const message = 'The body is not valid. stream_id: Must be a string. name: Must not be empty.'
  expect(invalidBody(issues)).toMatchObject({ message, details })
  expect(new AppError('invalid_parameter', 'x', { details: issues }).details).toEqual(details)
})
