import { daysAgo, rowsOf } from './template-rows.ts'
import type { TemplateTables } from './template-rows.ts'

/** Rows that macOS and Linux devices have alike. */
export const POSIX_ROWS: TemplateTables = {
  time: rowsOf('local_timezone', ['UTC']),
  uptime: rowsOf('total_seconds', [daysAgo(3.2)]),
  etc_hosts: rowsOf('address hostnames', ['127.0.0.1', 'localhost'], ['::1', 'localhost']),
  dns_resolvers: rowsOf(
    'id type address netmask options',
    [0, 'nameserver', '192.0.2.53', '32', 0],
    [1, 'nameserver', '198.51.100.53', '32', 0],
  ),
  ssh_configs: rowsOf('uid block option ssh_config_file', [
    '{uid}',
    'Host *',
    'serveraliveinterval 60',
    '{home}/.ssh/config',
  ]),
  battery: rowsOf(
    'manufacturer model health condition state charging charged percent_remaining cycle_count',
    ['Example Cells', 'EC-58', 'Good', 'Normal', 'AC Power', 1, 0, 84, 112],
  ),
}
