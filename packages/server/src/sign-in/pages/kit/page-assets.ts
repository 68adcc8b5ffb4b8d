/*
 * The style sheet and the script of the pages, as files that never change under their names. They are read and
 * compressed when somebody asks for the first page, and then kept.
 */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'

const FOLDER = fileURLToPath(new URL('../assets', import.meta.url))
const MEDIA_TYPES = {
  'pages.css': 'text/css; charset=utf-8',
  'pages.js': 'text/javascript; charset=utf-8',
  'proof.js': 'text/javascript; charset=utf-8',
} as const

/** The files by their names. */
export type AssetName = keyof typeof MEDIA_TYPES

/** A file as it is sent. */
export interface PageAsset {
  readonly mediaType: string
  readonly content: Buffer
  readonly brotli: Buffer
  readonly gzip: Buffer
}

/** The files of the pages. */
export interface PageAssets {
  /** The name under which a file stands, with the hash of what is in it. */
  nameOf(name: AssetName): string
  find(hashedName: string): PageAsset | undefined
}

interface LoadedAssets {
  readonly names: ReadonlyMap<AssetName, string>
  readonly files: ReadonlyMap<string, PageAsset>
}

/** Reads nothing until something is asked for. */
export function createPageAssets(): PageAssets {
  let loaded: LoadedAssets | undefined
  const load = () => (loaded ??= loadAssets())
  return {
    nameOf: (name) => load().names.get(name) ?? name,
    find: (hashedName) => load().files.get(hashedName),
  }
}

function loadAssets(): LoadedAssets {
  const names = new Map<AssetName, string>()
  const files = new Map<string, PageAsset>()
  for (const [name, mediaType] of Object.entries(MEDIA_TYPES) as [AssetName, string][]) {
    const content = readFileSync(`${FOLDER}/${name}`)
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 12)
    const hashedName = name.replace('.', `-${hash}.`)
    names.set(name, hashedName)
    files.set(hashedName, {
      mediaType,
      content,
      brotli: brotliCompressSync(content),
      gzip: gzipSync(content),
    })
  }
  return { names, files }
}
