/*
 * The rows of a device on which a browser has connections. The connections are those of a real program of this machine;
 * the program is what a browser is on the platform of the device.
 */
import type { LocalConnection } from '../host/local-connections.ts'
import type { Platform } from '../platform.ts'
import type { PlatformDatabase, StoredRow } from '../sql/platform-database.ts'

const MAC_PATH =
  '/Applications/Google Chrome.app/Contents/Frameworks/Google Chrome Framework.framework/Helpers/Google Chrome Helper.app/Contents/MacOS/Google Chrome Helper'
const WINDOWS_PATH = 'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe'
/** IPPROTO_TCP, AF_INET and AF_INET6. */
const [TCP, IPV4, IPV6] = [6, 2, 10]

/** Has the tables of a node show these connections and the programs that hold them, and no others. */
export function showConnections(
  database: PlatformDatabase,
  node: number,
  connections: readonly LocalConnection[],
): void {
  const { platform } = database
  database.replaceRows(
    node,
    'process_open_sockets',
    connections.map((connection, index) => toSocketRow(connection, index)),
  )
  const put = (table: string, row: StoredRow, key: string) =>
    database.applyChanges(node, [{ kind: 'put', table, row, key: [key] }])
  for (const connection of connections) {
    const { pid, parentPid: parent, uid, startedAt } = connection
    const path = pathOn(platform, connection)
    put('processes', { pid, parent, path, uid, start_time: startedAt, name: 'chrome' }, 'pid')
    for (const [table, row, key] of signsOf(platform, path, connection)) put(table, row, key)
  }
}

function toSocketRow(connection: LocalConnection, index: number): StoredRow {
  const { pid, localAddress, localPort, remoteAddress, remotePort } = connection
  return {
    pid,
    fd: index,
    family: localAddress.includes(':') ? IPV6 : IPV4,
    protocol: TCP,
    local_address: localAddress,
    local_port: localPort,
    remote_address: remoteAddress,
    remote_port: remotePort,
    state: 'ESTABLISHED',
  }
}

function pathOn(platform: Platform, { path }: LocalConnection): string {
  return { darwin: MAC_PATH, windows: WINDOWS_PATH, linux: path }[platform]
}

/** By what the platform tells that a program is the one that it says. */
function signsOf(
  platform: Platform,
  path: string,
  connection: LocalConnection,
): [table: string, row: StoredRow, key: string][] {
  const { pid, fileUid, fileMode, userNamespace, firstUserNamespace } = connection
  switch (platform) {
    case 'darwin': {
      const [team, authority] = ['EQHXZ8M8AV', 'Developer ID Application: Google LLC (EQHXZ8M8AV)']
      const signed = { signed: 1, identifier: 'com.google.Chrome.helper', team_identifier: team }
      return [['signature', { path, ...signed, authority }, 'path']]
    }
    case 'windows':
      return [['authenticode', { path, result: 'trusted', subject_name: 'Google LLC' }, 'path']]
    case 'linux':
      return [
        ['file', { path, uid: fileUid, mode: fileMode }, 'path'],
        ['process_namespaces', { pid, user_namespace: userNamespace }, 'pid'],
        ['process_namespaces', { pid: 1, user_namespace: firstUserNamespace }, 'pid'],
      ]
  }
}
