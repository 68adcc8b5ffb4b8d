/** Rows that a Mac tells through commands which only read and need no rights. */
import { userInfo } from 'node:os'
import { runCommand } from './run-command.ts'
import { scanSshKeys } from './ssh-key-scan.ts'
import type { StoredRow, TableRows } from '../sql/platform-database.ts'

const SOCKET_FILTER = '/usr/libexec/ApplicationFirewall/socketfilterfw'

async function fileVault(): Promise<TableRows> {
  const output = await runCommand('fdesetup', ['status'])
  if (output === '') return {}
  const isOn = output.includes('FileVault is On')
  const row: StoredRow = {
    name: '/dev/disk1s1',
    encrypted: isOn ? 1 : 0,
    encryption_status: isOn ? 'encrypted' : 'not encrypted',
    filevault_status: isOn ? 'on' : 'off',
  }
  return { disk_encryption: [row] }
}

async function protection(): Promise<TableRows> {
  const [sip, gatekeeper, firewall] = await Promise.all([
    runCommand('csrutil', ['status']),
    runCommand('spctl', ['--status']),
    runCommand(SOCKET_FILTER, ['--getglobalstate']),
  ])
  const isSipOn = sip.includes('enabled') ? 1 : 0
  const isAssessing = gatekeeper.includes('enabled') ? 1 : 0
  const state = /State = (\d)/.exec(firewall)?.[1]
  return {
    sip_config:
      sip === '' ? [] : [{ config_flag: 'sip', enabled: isSipOn, enabled_nvram: isSipOn }],
    gatekeeper:
      gatekeeper === '' ? [] : [{ assessments_enabled: isAssessing, dev_id_enabled: isAssessing }],
    alf: state === undefined ? [] : [{ global_state: Number(state) }],
  }
}

async function sshKeys(): Promise<TableRows> {
  const { homedir, uid } = userInfo()
  return { user_ssh_keys: await scanSshKeys(homedir, uid) }
}

export const DARWIN_COLLECTORS: readonly (() => Promise<TableRows>)[] = [
  fileVault,
  protection,
  sshKeys,
]
