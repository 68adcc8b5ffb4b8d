import { expect, it } from 'vitest'
import { invalidBody } from './app-error.ts'

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
