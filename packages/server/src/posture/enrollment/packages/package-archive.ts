import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { PackageBundle } from './package-bundle.ts'

const compress = promisify(gzip)

/** The bundle as a compressed tar archive; the same bundle gives the same bytes. */
export async function toPackageArchive(bundle: PackageBundle): Promise<Buffer> {
  // A library that most processes never need.
  const { pack } = await import('tar-stream')
  const archive = pack()
  const owner = { uid: 0, gid: 0, uname: 'root', gname: 'root', mtime: bundle.builtAt }
  archive.entry({ name: `${bundle.folder}/`, type: 'directory', mode: 0o755, ...owner })
  for (const { name, text, mode } of bundle.files) {
    archive.entry({ name: `${bundle.folder}/${name}`, mode, ...owner }, text)
  }
  archive.finalize()
  return compress(await buffer(archive))
}
