/** Reads the certificate and key files that the operator gives, and refuses what a TLS server could not use. */
import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Clock } from '../clock.ts'
import { errorCodeOf } from '../error-code-of.ts'
import type { TlsMaterial } from './tls-material.ts'

export interface TlsFiles {
  /** PEM: the server's certificate first, intermediates after it (`HELIOGRAPH_TLS_CERT`). */
  readonly certPath: string
  /** PEM, not encrypted (`HELIOGRAPH_TLS_KEY`). */
  readonly keyPath: string
}

/**
 * Loads the files. Throws an `Error` with public words when one cannot be read, when the key does not belong
 * to the certificate, and when the certificate has expired or is not valid yet.
 */
export async function loadTls(files: TlsFiles, clock: Clock): Promise<TlsMaterial> {
  const [cert, key] = await Promise.all([
    readPem(files.certPath, 'TLS certificate'),
    readPem(files.keyPath, 'TLS key'),
  ])
  const certificate = parseCertificate(cert, files.certPath)
  if (!certificate.checkPrivateKey(parseKey(key, files.keyPath))) {
    throw new Error(
      `The TLS key ${files.keyPath} does not belong to the certificate ${files.certPath}`,
    )
  }
  const now = clock.now()
  if (now > certificate.validToDate) {
    throw new Error(
      `The TLS certificate ${files.certPath} expired on ${certificate.validToDate.toISOString()}`,
    )
  }
  if (now < certificate.validFromDate) {
    throw new Error(
      `The TLS certificate ${files.certPath} becomes valid only on ${certificate.validFromDate.toISOString()}`,
    )
  }
  return { cert, key }
}

async function readPem(path: string, what: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const fault = errorCodeOf(error) || 'unknown fault'
    throw new Error(`The ${what} ${path} cannot be read (${fault})`, { cause: error })
  }
}

function parseCertificate(pem: string, path: string): X509Certificate {
  try {
    return new X509Certificate(pem)
  } catch (error) {
    throw new Error(`The TLS certificate ${path} is not a PEM certificate`, { cause: error })
  }
}

function parseKey(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem)
  } catch (error) {
    throw new Error(`The TLS key ${path} is not an unencrypted PEM private key`, { cause: error })
  }
}
