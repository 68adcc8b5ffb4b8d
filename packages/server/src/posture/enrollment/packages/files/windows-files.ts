import type { PackageContents, PackageFile } from '../package-contents.ts'
import { FLAGS_FILE, listSettingsFiles, toReadme, toSettingsFiles } from './bundle-files.ts'

const SERVICE = 'heliograph-osqueryd'
const OSQUERYD = 'C:\\Program Files\\osquery\\osqueryd\\osqueryd.exe'
const FOLDER = 'C:\\ProgramData\\heliograph'

/** The bundle for Windows. Lines end as Windows editors expect. */
export function toWindowsFiles(contents: PackageContents): PackageFile[] {
  const own = {
    pidfile: `${FOLDER}\\osqueryd.pid`,
    database_path: `${FOLDER}\\osquery.db`,
    extensions_socket: `\\\\.\\pipe\\${SERVICE}.em`,
  }
  const script = toInstallScript(listSettingsFiles(contents))
  const readme = toReadme(contents, {
    platformName: 'Windows',
    osqueryPath: OSQUERYD,
    installCommand: 'powershell -ExecutionPolicy Bypass -File .\\install.ps1',
    statusCommand: `Get-Service ${SERVICE}`,
    uninstallCommands: [
      `Stop-Service ${SERVICE}`,
      `sc.exe delete ${SERVICE}`,
      `Remove-Item -Recurse ${FOLDER}`,
    ],
  })
  return [
    ...toSettingsFiles(contents, { folder: FOLDER, separator: '\\', own }),
    { name: 'install.ps1', text: withWindowsLines(script), mode: 0o644 },
    { ...readme, text: withWindowsLines(readme.text) },
  ]
}

function withWindowsLines(text: string): string {
  return text.replaceAll('\n', '\r\n')
}

function toInstallScript(settingsFiles: readonly string[]): string {
  const names = settingsFiles.map((name) => `'${name}'`).join(', ')
  return `#Requires -RunAsAdministrator
# Makes a service of osquery that enrolls into Heliograph. May be run again.
$ErrorActionPreference = 'Stop'

$service = '${SERVICE}'
$osqueryd = '${OSQUERYD}'
$folder = '${FOLDER}'

if (-not (Test-Path -LiteralPath $osqueryd)) {
  throw "$osqueryd is missing. Install osquery 5 first: https://osquery.io/downloads"
}

New-Item -ItemType Directory -Force -Path $folder | Out-Null
# Only the system and administrators may read the secret or change the settings.
& icacls.exe $folder /inheritance:r /grant:r '*S-1-5-18:(OI)(CI)F' '*S-1-5-32-544:(OI)(CI)F' | Out-Null
if ($LASTEXITCODE -ne 0) { throw "The access to $folder could not be limited." }

$existing = Get-Service -Name $service -ErrorAction SilentlyContinue
if ($existing) { Stop-Service -Name $service -Force }
foreach ($name in @(${names})) {
  Copy-Item -Force -LiteralPath (Join-Path $PSScriptRoot $name) -Destination (Join-Path $folder $name)
}

if (-not $existing) {
  $command = '"{0}" --flagfile="{1}"' -f $osqueryd, (Join-Path $folder '${FLAGS_FILE}')
  New-Service -Name $service -DisplayName 'osquery (Heliograph)' -StartupType Automatic \`
    -BinaryPathName $command | Out-Null
  & sc.exe failure $service reset= 86400 actions= restart/10000/restart/60000/restart/60000 | Out-Null
}
Start-Service -Name $service
Write-Output 'osquery is running and enrolls within a minute.'
`
}
