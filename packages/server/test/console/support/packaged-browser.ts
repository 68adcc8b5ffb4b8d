/* Chromium as an npm package ships it: compressed, with the libraries and fonts that a bare machine lacks. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import project from '../../../../../package.json' with { type: 'json' }

const CACHE = join(import.meta.dirname, '../../../../../node_modules/.cache')
const FOLDER = join(CACHE, `chromium-${project.devDependencies['@sparticuz/chromium']}`)
const SYSTEM_FONTS = '/etc/fonts/fonts.conf'

/** The package unpacks into the folder for temporary files, and its libraries only where it takes them to be needed. */
const require = createRequire(import.meta.url)
const UNPACK = `import(${JSON.stringify(require.resolve('@sparticuz/chromium'))}).then(({ default: packaged }) => packaged.executablePath())`
const UNPACKS_LIBRARIES = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' }

/** Whether the package has one for this machine. */
export function hasPackagedBrowser(): boolean {
  return process.platform === 'linux' && process.arch === 'x64'
}

/** Where it is, unpacked once for this checkout, and what its process is to know of its libraries and fonts. */
export async function unpackBrowser() {
  if (!existsSync(FOLDER)) await unpackInto(FOLDER)
  const libraries = { LD_LIBRARY_PATH: join(FOLDER, 'al2023/lib') }
  const fonts = existsSync(SYSTEM_FONTS) ? {} : { FONTCONFIG_FILE: join(FOLDER, 'fonts.conf') }
  const env = { ...process.env, ...libraries, ...fonts }
  return { executablePath: join(FOLDER, 'chromium'), env }
}

async function unpackInto(folder: string): Promise<void> {
  await mkdir(CACHE, { recursive: true })
  const staging = await mkdtemp(`${folder}-`)
  const env = { ...process.env, ...UNPACKS_LIBRARIES, TMPDIR: staging }
  await promisify(execFile)(process.execPath, ['-e', UNPACK], { cwd: import.meta.dirname, env })
  await writeFile(
    join(staging, 'fonts.conf'),
    `<?xml version="1.0"?><fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`,
  )
  try {
    await rename(staging, folder)
  } catch (error) {
    // Another worker was faster: its folder is as whole as this one.
    await rm(staging, { recursive: true, force: true })
    if (!existsSync(folder)) throw error
  }
}
