import { put, remove, set } from '../personas/template-rows.ts'
import type { KnobSource } from './knob.ts'

/** The knobs whose rows are the same on macOS and Linux. */
export const POSIX_KNOBS: readonly KnobSource[] = [
  {
    name: 'ssh-keys',
    title: 'SSH private keys have a passphrase',
    good: [sshKey(1)],
    bad: [sshKey(0)],
  },
  {
    name: 'sudo-password',
    title: 'sudo asks for a password',
    good: [remove('sudoers', { source: '/etc/sudoers.d/{user}' })],
    bad: [
      put(
        'sudoers',
        {
          source: '/etc/sudoers.d/{user}',
          header: '{user}',
          rule_details: 'ALL=(ALL) NOPASSWD: ALL',
        },
        'source',
      ),
    ],
  },
  {
    name: 'home-permissions',
    title: 'The home folder is closed to others',
    good: [set('file', { mode: '0750' }, { path: '{home}' })],
    bad: [set('file', { mode: '0777' }, { path: '{home}' })],
  },
  {
    name: 'hosts-file',
    title: 'The hosts file redirects nothing',
    good: [remove('etc_hosts', { hostnames: 'login.microsoftonline.com' })],
    bad: [
      put(
        'etc_hosts',
        { address: '203.0.113.9', hostnames: 'login.microsoftonline.com' },
        'hostnames',
      ),
    ],
  },
]

function sshKey(encrypted: 0 | 1): ReturnType<typeof put> {
  const row = {
    uid: '{uid}',
    path: '{home}/.ssh/id_ed25519',
    encrypted,
    key_type: 'ec',
    key_group_name: 'ED25519',
    key_length: 256,
    key_security_bits: 128,
  }
  return put('user_ssh_keys', row, 'path')
}
