import { expect, test } from 'vitest'
import { AppError } from '../app-error.ts'
import { toDiskFault } from './backup-files.ts'

const refusal = (code: string, message: string) => Object.assign(new Error(message), { code })

test('a disk that takes no more of a backup is not said to be that of the database', () => {
  const fault = toDiskFault(refusal('ENOSPC', 'ENOSPC: no space left on device, write'), '/backups')
  expect(fault).toBeInstanceOf(AppError)
  expect(fault).toMatchObject({
    kind: 'unavailable',
    message:
      'The disk of /backups fails: ENOSPC: no space left on device, write. See whether it is full, broken, or mounted read-only.',
  })
})

test.each(['ECONNRESET', '53100', 'EACCES'])('what %s tells stays as it is', (code) => {
  const error = refusal(code, 'other')
  expect(toDiskFault(error, '/backups')).toBe(error)
})
