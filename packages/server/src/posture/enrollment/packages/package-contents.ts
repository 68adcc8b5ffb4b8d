import type { AgentSettings } from '../../osquery/agent-settings.ts'

/** What the bundles of all platforms are made from. */
export interface PackageContents {
  readonly baseUrl: string
  readonly settings: AgentSettings
  readonly enrollSecret: string
  /** When the secret was made. */
  readonly secretCreatedAt: Date
  /** The authority of a certificate that the service issued itself; undefined for any other. */
  readonly caPem: string | undefined
}

/** A file of a bundle. */
export interface PackageFile {
  readonly name: string
  readonly text: string
  readonly mode: 0o600 | 0o644 | 0o755
}
