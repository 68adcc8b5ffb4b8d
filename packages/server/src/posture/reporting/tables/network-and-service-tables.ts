import type { ReportingTable } from '../reporting-table.ts'
import { EVERY_HOUR, inCategory, text, whole } from './table-parts.ts'

/** What the machine is connected to and what runs on it. */
export const NETWORK_AND_SERVICE_TABLES: readonly ReportingTable[] = [
  ...inCategory('Network', [
    {
      name: 'interface_addresses',
      description: 'Addresses of network interfaces.',
      intervalSeconds: EVERY_HOUR,
      columns: [
        text('interface', 'Interface'),
        text('address', 'Address'),
        text('mask', 'Mask'),
        text('type', 'How it was assigned'),
      ],
    },
    {
      name: 'interface_details',
      description: 'Network interfaces.',
      columns: [
        text('interface', 'Interface'),
        text('mac', 'Hardware address'),
        whole('type', 'Kind'),
        whole('mtu', 'Largest packet in bytes'),
        whole('flags', 'Flags'),
      ],
    },
    {
      name: 'listening_ports',
      description: 'Ports that programs listen on.',
      intervalSeconds: EVERY_HOUR,
      condition: 'port <> 0',
      columns: [
        whole('pid', 'Process'),
        whole('port', 'Port'),
        whole('protocol', '6 for TCP, 17 for UDP'),
        whole('family', '2 for IPv4, 10 or 30 for IPv6'),
        text('address', 'Address'),
      ],
    },
  ]),
  ...inCategory('Services', [
    {
      name: 'services',
      description: 'Windows services.',
      platforms: ['windows'],
      columns: [
        text('name', 'Name'),
        text('display_name', 'Name that is shown'),
        text('status', 'Status'),
        text('start_type', 'How it starts'),
        text('path', 'Command'),
        text('user_account', 'Account'),
      ],
    },
    {
      name: 'systemd_units',
      description: 'Units of systemd.',
      platforms: ['linux'],
      columns: [
        text('id', 'Name of the unit'),
        text('description', 'Description'),
        text('load_state', 'Whether it is loaded'),
        text('active_state', 'Whether it is active'),
        text('sub_state', 'Detail of the state'),
        text('unit_file_state', 'Whether it is enabled'),
      ],
    },
    {
      name: 'launchd',
      description: 'Agents and daemons of macOS.',
      platforms: ['darwin'],
      columns: [
        text('label', 'Label'),
        text('name', 'File name'),
        text('path', 'File'),
        text('program', 'Program'),
        text('run_at_load', 'Whether it starts at load'),
        text('disabled', 'Whether it is disabled'),
      ],
    },
    {
      name: 'startup_items',
      description: 'What starts at login or boot.',
      columns: [
        text('name', 'Name'),
        text('path', 'File'),
        text('type', 'Kind'),
        text('source', 'Where it is registered'),
        text('status', 'Enabled or disabled'),
        text('username', 'User'),
      ],
    },
  ]),
]
