import { open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { StoredRow } from '../sql/platform-database.ts'

const HEAD_BYTES = 4_096
const FILES_MAX = 200

/**
 * Whether the private key at the head of a file is encrypted; undefined when it is no private key.
 * OpenSSH's own format names its cipher in clear, PEM formats say it in their headers.
 */
export function detectKeyEncryption(head: string): boolean | undefined {
  const match = /-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----\s([\s\S]*)/.exec(head)
  if (match === null) return undefined
  const [, kind = '', body = ''] = match
  if (kind.startsWith('ENCRYPTED')) return true
  if (!kind.startsWith('OPENSSH')) return /^Proc-Type: 4,ENCRYPTED/m.test(body)
  const decoded = Buffer.from(body.replace(/-----[\s\S]*/, ''), 'base64')
  const magic = 'openssh-key-v1\0'
  if (decoded.toString('latin1', 0, magic.length) !== magic) return undefined
  const length = decoded.readUInt32BE(magic.length)
  const start = magic.length + 4
  return decoded.toString('latin1', start, start + length) !== 'none'
}

function keyTypeOf(head: string): string {
  if (head.includes('RSA PRIVATE KEY')) return 'rsa'
  if (head.includes('DSA PRIVATE KEY')) return 'dsa'
  return head.includes('EC PRIVATE KEY') ? 'ec' : ''
}

async function readHead(path: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}

/** Rows of `user_ssh_keys` for the keys in a home folder. What is in a key is never kept or sent. */
export async function scanSshKeys(home: string, uid: number): Promise<StoredRow[]> {
  const directory = join(home, '.ssh')
  const rows: StoredRow[] = []
  const names = await readdir(directory).catch(() => [])
  for (const name of names.slice(0, FILES_MAX)) {
    const path = join(directory, name)
    const head = await readHead(path).catch(() => '')
    const isEncrypted = detectKeyEncryption(head)
    if (isEncrypted === undefined) continue
    rows.push({
      uid,
      path,
      encrypted: isEncrypted ? 1 : 0,
      key_type: keyTypeOf(head),
      key_length: -1,
    })
  }
  return rows
}
