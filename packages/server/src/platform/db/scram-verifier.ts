import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto'

/** As PostgreSQL makes them by default (`scram_iterations`). */
const ITERATIONS = 4_096
const SALT_BYTES = 16

/**
 * What PostgreSQL stores of a password of ASCII characters, for statements that set one: the password
 * itself then reaches neither the server nor its log (RFC 5803; RFC 5802 section 3).
 */
export function toScramVerifier(password: string): string {
  const salt = randomBytes(SALT_BYTES)
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, 'sha256')
  const keyOf = (text: string) => createHmac('sha256', salted).update(text).digest()
  const storedKey = createHash('sha256').update(keyOf('Client Key')).digest('base64')
  const serverKey = keyOf('Server Key').toString('base64')
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${serverKey}`
}
