import type { PackageContents, PackageFile } from '../package-contents.ts'
import { FLAGS_FILE, listSettingsFiles, toReadme, toSettingsFiles } from './bundle-files.ts'

const LABEL = 'heliograph.osqueryd'
const PROPERTY_LIST = `${LABEL}.plist`
const OSQUERYD = '/opt/osquery/lib/osquery.app/Contents/MacOS/osqueryd'
const FOLDER = '/private/etc/heliograph'
const STATE = '/private/var/db/heliograph'

/** The bundle for macOS with launchd. */
export function toDarwinFiles(contents: PackageContents): PackageFile[] {
  const own = {
    pidfile: `/private/var/run/${LABEL}.pid`,
    database_path: `${STATE}/osquery.db`,
    extensions_socket: `/private/var/run/${LABEL}.em`,
  }
  return [
    ...toSettingsFiles(contents, { folder: FOLDER, separator: '/', own }),
    { name: PROPERTY_LIST, text: PROPERTY_LIST_TEXT, mode: 0o644 },
    { name: 'install.sh', text: toInstallScript(listSettingsFiles(contents)), mode: 0o755 },
    toReadme(contents, {
      platformName: 'macOS',
      osqueryPath: OSQUERYD,
      installCommand: 'sudo ./install.sh',
      statusCommand: `sudo launchctl print system/${LABEL}`,
      uninstallCommands: [
        `sudo launchctl bootout system/${LABEL}`,
        `sudo rm -r /Library/LaunchDaemons/${PROPERTY_LIST} ${FOLDER} ${STATE}`,
      ],
    }),
  ]
}

const PROPERTY_LIST_TEXT = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
    <string>${OSQUERYD}</string>
    <string>--flagfile=${FOLDER}/${FLAGS_FILE}</string>
  </array>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <true/>
  <key>ThrottleInterval</key>
  <integer>60</integer>
</dict>
</plist>
`

function toInstallScript(settingsFiles: readonly string[]): string {
  return `#!/bin/sh
# Makes a daemon of osquery that enrolls into Heliograph. Run as root; may be run again.
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

install -d -o root -g wheel -m 0700 ${FOLDER} ${STATE}
for file in ${settingsFiles.join(' ')}; do
  install -o root -g wheel -m 0600 "$file" "${FOLDER}/$file"
done
launchctl bootout system/${LABEL} 2>/dev/null || true
install -o root -g wheel -m 0644 ${PROPERTY_LIST} /Library/LaunchDaemons/${PROPERTY_LIST}

# A daemon that has just been ended may not be gone yet.
attempt=1
until launchctl bootstrap system /Library/LaunchDaemons/${PROPERTY_LIST}; do
  if [ "$attempt" -ge 10 ]; then
    echo 'The daemon could not be loaded.' >&2
    exit 1
  fi
  attempt=$((attempt + 1))
  sleep 1
done
echo 'osquery is running and enrolls within a minute.'
`
}
