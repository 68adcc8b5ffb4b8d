/*
 * TLS without a certificate from elsewhere: an authority of its own in the data folder, created once, and a
 * server certificate signed by it, renewed before it expires and whenever the names change. Clients trust the
 * authority, so that renewals need nothing of them.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  X509Certificate,
} from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import { DAY_MS, HOUR_MS, type Clock } from '../clock.ts'
import { errorCodeOf } from '../error-code-of.ts'
import { createPrivateFile, isReadableByOthers, replaceFile } from '../secrets/private-file.ts'
import type { CertificateWithKey } from './issue-certificate.ts'
import type { TlsMaterial } from './tls-material.ts'

export interface SelfSignedTlsOptions {
  /** Where authority and certificate are kept; created when it does not exist. */
  readonly folder: string
  /** Host names and IP addresses that clients call; `localhost` and the loopback addresses are always added. */
  readonly names: readonly string[]
  readonly clock: Clock
}

export interface SelfSignedTls extends TlsMaterial {
  /** The authority that clients must trust, PEM; the file `caPath` holds the same. */
  readonly caPem: string
  readonly caPath: string
  readonly notAfter: Date
}

export interface SelfSignedTlsSource {
  readonly current: SelfSignedTls
  /**
   * Renews the certificate when it is due, and answers the new material then, otherwise undefined. Call it
   * about once a day and hand what it answers to `server.setSecureContext`.
   */
  renewIfDue(): Promise<SelfSignedTls | undefined>
}

const AUTHORITY_DAYS = 3_650
/** The longest lifetime that browsers and Apple systems take from a server certificate. */
const SERVER_DAYS = 397
const RENEW_BEFORE_DAYS = 30
/** Clients whose clock is a little behind must not find the certificate not valid yet. */
const BACKDATE_MS = HOUR_MS
const PUBLIC_MODE = 0o644
const ALWAYS_NAMED: readonly string[] = ['localhost', '127.0.0.1', '::1']
const UNSPECIFIED: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

/**
 * Opens the authority and the certificate, creating or renewing what is missing or due. Throws an `Error` with
 * public words when the folder cannot be used or its files are broken or open to other users.
 */
export async function openSelfSignedTls(
  options: SelfSignedTlsOptions,
): Promise<SelfSignedTlsSource> {
  const names = toCertificateNames(options.names)
  const open = (): Promise<SelfSignedTls> => openOnce(options.folder, names, options.clock.now())
  let current = await open()
  return {
    get current() {
      return current
    },
    async renewIfDue() {
      const opened = await open()
      if (opened.cert === current.cert) return undefined
      current = opened
      return opened
    },
  }
}

/** The names without duplicates, brackets and unspecified addresses, and with the loopback names at the end. */
export function toCertificateNames(names: readonly string[]): string[] {
  const normalised = names
    .map((name) =>
      name
        .replace(/^\[(.*)\]$/, '$1')
        .replace(/\.$/, '')
        .toLowerCase(),
    )
    .filter((name) => name !== '' && !UNSPECIFIED.has(name))
    .map((name) => (isIP(name) === 6 ? new URL(`http://[${name}]/`).hostname.slice(1, -1) : name))
  return [...new Set([...normalised, ...ALWAYS_NAMED])]
}

async function openOnce(
  folder: string,
  names: readonly string[],
  now: Date,
): Promise<SelfSignedTls> {
  const authority = await openAuthority(join(folder, 'authority.pem'), now)
  const caPath = join(folder, 'ca.pem')
  if ((await readOptional(caPath)) !== authority.certificate) {
    await replaceFile(caPath, authority.certificate, PUBLIC_MODE)
  }
  const server = await openServerCertificate(join(folder, 'server.pem'), authority, names, now)
  const notAfter = new X509Certificate(server.certificate).validToDate
  const key = toPem(server)
  return { key, cert: server.certificate, caPem: authority.certificate, caPath, notAfter }
}

async function openAuthority(path: string, now: Date): Promise<CertificateWithKey> {
  const existing = await readPair(path)
  if (existing !== undefined && !isDue(existing.certificate, now)) return existing
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = `Heliograph authority ${randomBytes(4).toString('hex')}`
  const { issueAuthorityCertificate } = await loadIssuing()
  const certificate = await issueAuthorityCertificate(
    name,
    privateKey,
    validityFrom(now, AUTHORITY_DAYS),
  )
  const pair = { certificate, key: privateKey }
  if (existing !== undefined) {
    await replaceFile(path, toFile(pair))
    return pair
  }
  await createPrivateFile(path, toFile(pair))
  // Another process may have been first; then its authority counts.
  return (await readPair(path)) ?? pair
}

async function openServerCertificate(
  path: string,
  authority: CertificateWithKey,
  names: readonly string[],
  now: Date,
): Promise<CertificateWithKey> {
  const existing = await readPair(path)
  if (existing !== undefined && isUsable(existing.certificate, authority, names, now))
    return existing
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const validity = validityFrom(now, SERVER_DAYS)
  const authorityEnd = new X509Certificate(authority.certificate).validToDate
  const notAfter = validity.notAfter < authorityEnd ? validity.notAfter : authorityEnd
  const { issueServerCertificate } = await loadIssuing()
  const certificate = await issueServerCertificate(authority, createPublicKey(privateKey), names, {
    ...validity,
    notAfter,
  })
  const pair = { certificate, key: privateKey }
  await replaceFile(path, toFile(pair))
  return pair
}

/** Loaded where a certificate is made, which is rare: it costs a start a quarter of a second of CPU time. */
function loadIssuing() {
  return import('./issue-certificate.ts')
}

function isUsable(
  pem: string,
  authority: CertificateWithKey,
  names: readonly string[],
  now: Date,
): boolean {
  const certificate = new X509Certificate(pem)
  const isSigned = certificate.verify(new X509Certificate(authority.certificate).publicKey)
  const isNamed = names.every((name) =>
    isIP(name) === 0
      ? certificate.checkHost(name) !== undefined
      : certificate.checkIP(name) !== undefined,
  )
  return isSigned && isNamed && !isDue(pem, now)
}

function isDue(pem: string, now: Date): boolean {
  const { validFromDate, validToDate } = new X509Certificate(pem)
  return now < validFromDate || validToDate.getTime() - now.getTime() < RENEW_BEFORE_DAYS * DAY_MS
}

function validityFrom(now: Date, days: number): { notBefore: Date; notAfter: Date } {
  const notBefore = new Date(now.getTime() - BACKDATE_MS)
  return { notBefore, notAfter: new Date(notBefore.getTime() + days * DAY_MS) }
}

/** Key and certificate live in one file, so that they can never be of different generations. */
function toFile(pair: CertificateWithKey): string {
  return `${toPem(pair)}${pair.certificate}`
}

function toPem({ key }: CertificateWithKey): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString()
}

async function readPair(path: string): Promise<CertificateWithKey | undefined> {
  const text = await readOptional(path)
  if (text === undefined) return undefined
  if (await isReadableByOthers(path)) {
    throw new Error(
      `The TLS key file ${path} is open to other users; restrict it with: chmod 600 ${path}`,
    )
  }
  try {
    const certificate = text.slice(text.indexOf('-----BEGIN CERTIFICATE-----'))
    const key = createPrivateKey(text)
    if (new X509Certificate(certificate).checkPrivateKey(key)) return { certificate, key }
  } catch (error) {
    throw brokenFile(path, error)
  }
  throw brokenFile(path)
}

function brokenFile(path: string, cause?: unknown): Error {
  return new Error(
    `The TLS file ${path} is broken; restore it, or remove it so that a new one is created`,
    { cause },
  )
}

async function readOptional(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return undefined
    throw error
  }
}
