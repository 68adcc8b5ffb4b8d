/*
 * Which passwords are good enough: length counts, no kind of character is asked for, and what is guessed first is
 * refused (NIST SP 800-63B-4, section 3.1.1.2). Pure.
 */
import { invalidBody, type AppError } from '../../platform/app-error.ts'

/** Characters, as people count them after NFKC. */
const PASSWORD_LENGTH_MIN = 12
const PASSWORD_LENGTH_MAX = 256
/** Of a text before NFKC, so that it is bounded before anything is done with it. */
export const PASSWORD_INPUT_LENGTH_MAX = 1_024
/** Characters that do not follow from those before. */
const UNFORESEEN_MIN = 8
/** Shorter names are in too many words. */
const NAME_LENGTH_MIN = 4

/** Whose password it is. */
export interface PasswordOwner {
  readonly email: string
  readonly organisationName: string
}

/** The form in which a password is hashed and compared, on whichever keyboard it was typed. */
export function toPasswordForm(password: string): string {
  return password.normalize('NFKC')
}

/**
 * A new password in the form in which it is hashed.
 *
 * @throws AppError `invalid_body` naming `password`
 */
export function parseNewPassword(text: string, owner: PasswordOwner): string {
  if (!text.isWellFormed()) throw refused('must be text')
  const password = toPasswordForm(text)
  const { length } = [...password]
  if (length < PASSWORD_LENGTH_MIN || length > PASSWORD_LENGTH_MAX) {
    throw refused(`must have ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`)
  }
  if (namesOwner(password.toLowerCase(), owner)) {
    throw refused(
      'must not contain your email address, or the name of the organisation or of this service',
    )
  }
  if (countUnforeseen(password) < UNFORESEEN_MIN) {
    throw refused(
      'is guessed easily: take four words that have nothing to do with each other, or have one made for you',
    )
  }
  return password
}

function namesOwner(password: string, { email, organisationName }: PasswordOwner): boolean {
  const letters = squeeze(password)
  const [mailbox = ''] = email.split('@')
  const names = [mailbox, organisationName, SERVICE_NAME].map((name) => squeeze(name.toLowerCase()))
  return (
    password.includes(email.toLowerCase()) ||
    names.some((name) => name.length >= NAME_LENGTH_MIN && letters.includes(name))
  )
}

const SERVICE_NAME = 'heliograph'

function squeeze(text: string): string {
  return text.replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/** What most often stands in passwords, for people and for those who guess. */
const COMMON_WORDS = [
  ...['password', 'passwort', 'passw', 'letmein', 'welcome', 'changeme', 'default', 'secret'],
  ...['administrator', 'admin', 'login', 'master', 'system', 'server', 'computer', 'internet'],
  ...['security', 'access', 'company', 'office', 'iloveyou', 'monkey', 'dragon', 'football'],
  ...['baseball', 'sunshine', 'princess', 'shadow', 'superman', 'batman', 'trustno', 'hello'],
  ...['michael', 'jordan', 'jennifer', 'charlie', 'hunter', 'whatever', 'starwars', 'pokemon'],
  ...['spring', 'summer', 'autumn', 'winter', 'january', 'february', 'march', 'april', 'june'],
  ...['july', 'august', 'september', 'october', 'november', 'december', 'monday', 'tuesday'],
  ...['wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
]
const COMMON = new RegExp(COMMON_WORDS.join('|'), 'g')

/** Digits and signs that stand for letters. */
const LETTER_OF: Readonly<Record<string, string>> = {
  '@': 'a',
  '4': 'a',
  '3': 'e',
  '1': 'i',
  '!': 'i',
  '0': 'o',
  $: 's',
  '5': 's',
  '7': 't',
}

const ROWS = ['1234567890', 'qwertyuiop', 'qwertzuiop', 'asdfghjkl', 'zxcvbnm', 'yxcvbnm']

/**
 * How many characters do not follow from those before: of a common word one counts; none counts that is the same
 * as the one before, or next to it in the alphabet, among the digits or on a row of the keyboard; and none that
 * goes on as it did before.
 */
function countUnforeseen(password: string): number {
  const text = password.toLowerCase()
  const foreseen = new Set<number>()
  const letters = text.replaceAll(/[@4310!$57]/g, (sign) => LETTER_OF[sign] ?? sign)
  for (const { index, 0: word } of letters.matchAll(COMMON)) {
    for (let at = index + 1; at < index + word.length; at += 1) foreseen.add(at)
  }
  const seen = new Set<string>()
  for (let at = 1; at < text.length; at += 1) {
    if (areNeighbours(text.charAt(at - 1), text.charAt(at))) foreseen.add(at)
    if (at < 2) continue
    const three = text.slice(at - 2, at + 1)
    if (seen.has(three)) foreseen.add(at)
    seen.add(three)
  }
  return text.length - foreseen.size
}

function areNeighbours(left: string, right: string): boolean {
  if (Math.abs(left.charCodeAt(0) - right.charCodeAt(0)) <= 1) return true
  return ROWS.some((row) => row.includes(left + right) || row.includes(right + left))
}

function refused(message: string): AppError {
  return invalidBody([{ path: 'password', message }])
}
