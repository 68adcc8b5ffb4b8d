import type { CatalogueEntry } from './catalogue-entry.ts'
import { unwantedSoftwareQueries, type SoftwareNames } from './installed-software-sql.ts'

// Peer-to-peer file sharing, mining of crypto-currencies, cracks of licences, software that comes along with
// others and changes browsers, and plug-ins that get no more security updates.
const BANNED_APPLICATIONS: SoftwareNames = {
  bundleIdentifiers: [
    'com.adobe.flashplayer.installmanager',
    'com.bittorrent.BitTorrent',
    'com.bittorrent.uTorrent',
    'com.bittorrent.utweb',
    'com.macpaw.mackeeper',
    'com.mackeeper.MacKeeper',
    'com.nicehash.nhm',
    'com.pcv.advancedmaccleaner',
    'com.vuze.vuze',
    'com.zeobit.MacKeeper',
    'org.m0k.transmission',
    'org.qbittorrent.qBittorrent',
    'se.frostwire.FrostWire',
  ],
  programNames: [
    'Adobe Flash Player%',
    'AutoKMS%',
    'BitComet%',
    'BitTorrent%',
    'eMule%',
    'FrostWire%',
    'KMSAuto%',
    'KMSpico%',
    'LimeWire%',
    'MacKeeper%',
    'Microsoft Silverlight%',
    'MinerGate%',
    'NiceHash%',
    'OneLaunch%',
    'qBittorrent%',
    'QuickTime 7%',
    'Transmission%BitTorrent%',
    'uTorrent%',
    'µTorrent%',
    'Vuze%',
    'Wave Browser%',
    'WebCompanion%',
    'Web Companion%',
  ],
  packageNames: [
    'amule',
    'deluge',
    'flashplugin-installer',
    'frostwire',
    'ktorrent',
    'minergate-gui',
    'qbittorrent',
    'transmission',
    'transmission-gtk',
    'transmission-qt',
    'vuze',
    'xmrig',
  ],
}

/** No software is installed that organisations commonly forbid. */
export const bannedApplications: CatalogueEntry = {
  slug: 'banned-applications',
  name: 'No banned applications',
  description:
    'No software is installed that organisations commonly forbid: peer-to-peer file sharing, mining of crypto-currencies, cracks of licences, unwanted programs such as MacKeeper or OneLaunch, and Flash, Silverlight and QuickTime 7, which get no more updates. An organisation with a list of its own makes a custom check from it.',
  issueTitle: 'A banned application is installed',
  topics: ['software'],
  tags: ['Info'],
  queries: unwantedSoftwareQueries(BANNED_APPLICATIONS),
  primaryKeyColumn: 'name',
  rationaleTemplate: `**{{ issue.value.name }}** is of a kind that {{ organisation.name | default: "your organisation" }} does not want on its devices: it shares files with strangers, brings other programs along, or has holes that nobody closes any more.`,
  fix: {
    darwin: [
      'Quit **{{ issue.value.name }}**.',
      'Open **Finder** > **Applications** and drag it to the **Trash**, or start its own uninstaller where it has one.',
      'If your work needs it, ask for an exemption.',
    ],
    windows: [
      'Open **Settings** > **Apps** > **Installed apps**.',
      'Find **{{ issue.value.name }}**, choose **…** > **Uninstall** and follow the steps.',
      'If your work needs it, ask for an exemption.',
    ],
    linux: [
      'Open a terminal. Ubuntu and Debian: run `sudo apt purge NAME`. Fedora and Red Hat: run `sudo dnf remove NAME`. The name is **{{ issue.value.name }}**.',
      'If your work needs it, ask for an exemption.',
    ],
  },
  privacyInfo: 'Names and versions of the banned applications that were found. No other software.',
  defaultStrategy: 'report_only',
  strategyReason: 'Which software is banned differs; look at what is found before you notify.',
  shelfLife: 'software',
}
