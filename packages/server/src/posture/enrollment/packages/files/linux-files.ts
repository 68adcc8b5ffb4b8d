import type { PackageContents, PackageFile } from '../package-contents.ts'
import { FLAGS_FILE, listSettingsFiles, toReadme, toSettingsFiles } from './bundle-files.ts'

const SERVICE = 'heliograph-osqueryd'
const OSQUERYD = '/opt/osquery/bin/osqueryd'
const FOLDER = '/etc/heliograph'
const STATE = '/var/lib/heliograph'

/** The bundle for Linux with systemd. */
export function toLinuxFiles(contents: PackageContents): PackageFile[] {
  const own = {
    pidfile: `/run/${SERVICE}.pid`,
    database_path: `${STATE}/osquery.db`,
    extensions_socket: `/run/${SERVICE}.em`,
  }
  return [
    ...toSettingsFiles(contents, { folder: FOLDER, separator: '/', own }),
    { name: `${SERVICE}.service`, text: UNIT, mode: 0o644 },
    { name: 'install.sh', text: toInstallScript(listSettingsFiles(contents)), mode: 0o755 },
    toReadme(contents, {
      platformName: 'Linux',
      osqueryPath: OSQUERYD,
      installCommand: 'sudo ./install.sh',
      statusCommand: `systemctl status ${SERVICE}`,
      uninstallCommands: [
        `sudo systemctl disable --now ${SERVICE}`,
        `sudo rm -r /etc/systemd/system/${SERVICE}.service ${FOLDER} ${STATE}`,
      ],
    }),
  ]
}

const UNIT = `[Unit]
Description=osquery, enrolled into Heliograph
After=network-online.target
Wants=network-online.target

[Service]
Type=simple
ExecStart=${OSQUERYD} --flagfile=${FOLDER}/${FLAGS_FILE}
Restart=on-failure
RestartSec=10
KillMode=control-group
TimeoutStopSec=30

[Install]
WantedBy=multi-user.target
`

function toInstallScript(settingsFiles: readonly string[]): string {
  return `#!/bin/sh
# Makes a service of osquery that enrolls into Heliograph. Run as root; may be run again.
set -eu
cd "$(dirname "$0")"

if [ "$(id -u)" -ne 0 ]; then
  echo 'Run this script as root: sudo ./install.sh' >&2
  exit 1
fi
if [ ! -x ${OSQUERYD} ]; then
  echo '${OSQUERYD} is missing. Install osquery 5 first: https://osquery.io/downloads' >&2
  exit 1
fi

install -d -m 0700 ${FOLDER} ${STATE}
install -m 0600 ${settingsFiles.join(' ')} ${FOLDER}/
install -m 0644 ${SERVICE}.service /etc/systemd/system/
systemctl daemon-reload
systemctl enable ${SERVICE}
systemctl restart ${SERVICE}
echo 'osquery is running and enrolls within a minute.'
`
}
