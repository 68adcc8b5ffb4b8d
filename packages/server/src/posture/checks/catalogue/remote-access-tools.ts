import { toFixTemplate, type CatalogueEntry } from './catalogue-entry.ts'
import { unwantedSoftwareQueries, type SoftwareNames } from './installed-software-sql.ts'

const REMOTE_ACCESS_TOOLS: SoftwareNames = {
  bundleIdentifiers: [
    'com.carriez.rustdesk',
    'com.philandro.anydesk',
    'com.realvnc.vncserver',
    'com.splashtop.Splashtop-Streamer',
    'com.teamviewer.TeamViewer',
    'com.teamviewer.TeamViewerHost',
    'com.teamviewer.TeamViewerQS',
  ],
  programNames: [
    'Ammyy Admin%',
    'AnyDesk%',
    'Chrome Remote Desktop Host%',
    'GoToMyPC%',
    'LogMeIn%',
    'NetSupport Manager%',
    'Radmin Server%',
    'RealVNC Server%',
    'RustDesk%',
    'ScreenConnect Client%',
    'Splashtop Streamer%',
    'Supremo%',
    'TeamViewer%',
    'TightVNC%',
    'UltraViewer%',
    'UltraVNC%',
    'VNC Server%',
  ],
  packageNames: [
    'anydesk',
    'chrome-remote-desktop',
    'realvnc-vnc-server',
    'rustdesk',
    'splashtop-streamer',
    'teamviewer',
    'tightvncserver',
    'x11vnc',
  ],
}

/** No tool is installed that lets others control the device from the internet. */
export const remoteAccessTools: CatalogueEntry = {
  slug: 'remote-access-tools',
  revision: 2,
  name: 'No remote-access tools',
  description:
    'None of the well-known tools is installed that let others control a device over the internet, such as AnyDesk, RustDesk or TeamViewer. Except the one that your organisation uses.',
  issueTitle: 'A remote-access tool is installed',
  topics: ['remote-access'],
  tags: ['Important'],
  queries: unwantedSoftwareQueries(REMOTE_ACCESS_TOOLS),
  primaryKeyColumn: 'name',
  rationaleTemplate: `**{{ issue.value.name }}** lets someone far away see and control {{ device.name }}. False support callers talk people into installing such tools, and break-ins often use them to come back.`,
  fix: toFixTemplate({
    darwin: [
      'Quit **{{ issue.value.name }}**.',
      'Open **Finder** > **Applications** and drag it to the **Trash**.',
      'Open the Apple menu > **System Settings** > **General** > **Login Items & Extensions** and remove what belongs to it.',
    ],
    windows: [
      'Open **Settings** > **Apps** > **Installed apps**.',
      'Find **{{ issue.value.name }}**, choose **…** > **Uninstall** and follow the steps.',
    ],
    linux: [
      'Open a terminal. Ubuntu and Debian: run `sudo apt purge NAME`. Fedora and Red Hat: run `sudo dnf remove NAME`. The name is **{{ issue.value.name }}**.',
    ],
  }).concat(
    '\n\nIf you do not know how it got there, or someone asked you on the phone to install it, tell your IT team at once. If your work needs it, ask for an exemption.',
  ),
  privacyInfo:
    'The names and versions of the remote-access tools that were found. No other software.',
  defaultStrategy: 'notify_only',
  strategyReason: 'Which tool is allowed differs; organisations that use none may block.',
  shelfLife: 'software',
}
