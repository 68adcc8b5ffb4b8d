/* What the built-in checks found, in German. */
import { OFF, ON, type FoundWords } from './found-sentence.ts'

const outdatedApplication = [
  'Veraltet: {outdated}. Nötig ist mindestens {minimum_version}.',
  'Veraltet: {outdated}.',
] as const

/** By the slug of the check. */
export const foundInGerman: Readonly<Record<string, FoundWords>> = {
  'disk-encryption': {
    darwin: 'FileVault ist aus.',
    windows: [
      [
        { conversion_status: '1' },
        'BitLocker ist auf dem Laufwerk {drive_letter} angehalten: Solange schützt es nichts.',
      ],
      [{ conversion_status: '2' }, 'Das Laufwerk {drive_letter} wird noch verschlüsselt.'],
      'BitLocker ist auf dem Laufwerk {drive_letter} aus.',
      'BitLocker ist auf dem Systemlaufwerk aus.',
    ],
    linux: [
      'Das System startet von {root_device}; dieses Laufwerk ist nicht verschlüsselt.',
      'Die Festplatte, von der das System startet, ist nicht verschlüsselt.',
    ],
  },
  'data-drives-encrypted': [
    [{ protection: 'suspended' }, 'BitLocker ist auf dem Laufwerk {drive} angehalten.'],
    [{ protection: 'encrypting' }, 'Das Laufwerk {drive} wird noch verschlüsselt.'],
    'BitLocker ist auf dem Laufwerk {drive} aus.',
  ],
  firewall: {
    darwin: 'Die Firewall von macOS ist ausgeschaltet.',
    windows: [
      'Windows meldet, dass keine Firewall diesen Rechner schützt ({products}).',
      'Windows meldet, dass keine Firewall diesen Rechner schützt.',
    ],
    linux: 'Weder firewalld, nftables, iptables noch ufw filtert Verbindungen.',
  },
  'screen-lock': {
    darwin: [
      [{ enabled: '0' }, 'Nach dem Ausschalten des Bildschirms wird kein Passwort verlangt.'],
      [{ grace_period: '-1' }, 'Nach dem Ausschalten des Bildschirms wird kein Passwort verlangt.'],
      'Ein Passwort wird erst {grace_period} Sekunden nach dem Ausschalten des Bildschirms verlangt.',
      [
        { managed_ask_for_password: ON },
        'Ein Profil lässt den Bildschirm {managed_delay} Sekunden offen, bevor ein Passwort verlangt wird.',
      ],
      'Ein Profil legt fest, dass nach dem Ausschalten des Bildschirms kein Passwort verlangt wird.',
    ],
    windows: 'Nichts sperrt den Bildschirm innerhalb von 15 Minuten.',
  },
  'linux-screen-lock': [
    'Die Oberfläche {bare_desktops} läuft, aber kein Programm, das ihren Bildschirm sperrt.',
  ],
  'automatic-updates': {
    darwin: [
      [{ check_for_updates: OFF }, 'macOS sucht nicht von selbst nach Updates.'],
      [{ download_updates: OFF }, 'macOS lädt Updates nicht von selbst.'],
      [
        { install_security_responses: OFF },
        'macOS installiert Sicherheitsmaßnahmen nicht von selbst.',
      ],
      'macOS installiert seine Updates nicht von selbst.',
    ],
    windows: [
      [{ service_start_type: 'disabled' }, 'Der Dienst Windows Update ist deaktiviert.'],
      [{ no_auto_update: '1' }, 'Eine Richtlinie hat automatische Updates ausgeschaltet.'],
      [{ au_options: '1' }, 'Eine Richtlinie hindert Windows daran, nach Updates zu suchen.'],
      [{ au_options: '2' }, 'Eine Richtlinie lässt Windows vor dem Laden von Updates fragen.'],
    ],
    linux: [
      [
        { unattended_upgrade_period: '0' },
        'Das Paket unattended-upgrades ist installiert, aber ausgeschaltet.',
      ],
      'Weder unattended-upgrades noch ein Timer von dnf oder rpm-ostree installiert Updates.',
    ],
  },
  'app-store-automatic-updates': 'Apps aus dem App Store warten, bis jemand sie aktualisiert.',
  'operating-system-up-to-date': {
    darwin: [
      'macOS {version} ist installiert. Nötig ist mindestens {minimum_version}.',
      'macOS {version} ist installiert und wird nicht mehr aktualisiert.',
    ],
    windows: [
      'Windows hat den Build {version}. Nötig ist mindestens {minimum_version}.',
      'Windows hat den Build {version}, der nicht mehr aktualisiert wird.',
    ],
  },
  'operating-system-supported': {
    darwin: [
      'Sicherheitsupdates für macOS {version} gibt es seit dem {supported_until} nicht mehr.',
      'Für macOS {version} gibt es keine Sicherheitsupdates mehr.',
    ],
    windows: [
      'Sicherheitsupdates für {version} gibt es seit dem {supported_until} nicht mehr.',
      'Für {version} gibt es keine Sicherheitsupdates mehr.',
    ],
    linux: [
      'Sicherheitsupdates für {version} gibt es seit dem {supported_until} nicht mehr.',
      'Für {version} gibt es keine Sicherheitsupdates mehr.',
    ],
  },
  antivirus: [
    [{ antivirus: 'good' }, 'Der Virenschutz arbeitet mit alten Signaturen ({products}).'],
    'Windows meldet, dass kein Virenschutz diesen Rechner schützt ({products}).',
    'Windows meldet, dass kein Virenschutz diesen Rechner schützt.',
  ],
  'defender-real-time-protection': [
    [{ disabled_by_policy: '1' }, 'Eine Richtlinie hat den Echtzeitschutz ausgeschaltet.'],
    [{ disabled_by_setting: '1' }, 'Der Echtzeitschutz wurde ausgeschaltet.'],
    [{ defender_state: 'snoozed' }, 'Microsoft Defender ist angehalten.'],
    [{ defender_state: 'expired' }, 'Microsoft Defender ist abgelaufen.'],
    'Microsoft Defender ist aus.',
  ],
  'defender-tamper-protection': 'Programme können Microsoft Defender ausschalten.',
  'defender-exclusions': [
    [{ kind: 'extensions' }, 'Microsoft Defender übergeht jede Datei, die auf {exclusion} endet.'],
    [{ kind: 'processes' }, 'Microsoft Defender übergeht jede Datei, die {exclusion} öffnet.'],
    'Microsoft Defender übergeht alles in {exclusion}.',
  ],
  gatekeeper: 'macOS startet Apps, ohne zu prüfen, woher sie kommen.',
  'system-integrity-protection': 'Der Systemintegritätsschutz wurde ausgeschaltet.',
  'malware-definition-updates':
    'macOS installiert neue Beschreibungen von Schadprogrammen nicht von selbst.',
  'endpoint-detection-running': 'Keines der bekannten Programme läuft, die Angriffe erkennen.',
  'secure-boot': {
    darwin: [
      [
        { policy: 'permissive security' },
        'Die Startsicherheit dieses Macs steht auf „Minimale Sicherheit“.',
      ],
      'Sicheres Starten ist aus.',
    ],
    windows: [
      [{ setup_mode: '1' }, 'Die Firmware ist im Einrichtungsmodus; in diesem darf alles starten.'],
      'Secure Boot ist in der Firmware ausgeschaltet.',
    ],
    linux: [
      [{ setup_mode: '1' }, 'Die Firmware ist im Einrichtungsmodus; in diesem darf alles starten.'],
      'Secure Boot ist in der Firmware ausgeschaltet.',
    ],
  },
  'tpm-ready': [
    [{ enabled: '0' }, 'Der Sicherheitschip ist ausgeschaltet.'],
    [{ activated: '0' }, 'Der Sicherheitschip ist nicht aktiviert.'],
    [{ owned: '0' }, 'Windows hat den Sicherheitschip noch nicht übernommen.'],
    'Windows sieht keinen Sicherheitschip, den es benutzen kann.',
  ],
  'user-account-control': [
    [{ enable_lua: '0' }, 'Die Benutzerkontensteuerung ist ausgeschaltet.'],
    'Programme bekommen Administratorrechte ohne Rückfrage.',
  ],
  'lsa-protection': 'Der Prozess, der Ihre Passwörter kennt, läuft ohne seinen Schutz.',
  'credential-guard': '{edition} läuft ohne Credential Guard.',
  'automatic-login-disabled': {
    darwin: 'Dieser Mac meldet {automatic_login_user} beim Start von selbst an.',
    windows: 'Windows meldet beim Start von selbst jemanden an.',
  },
  'guest-account-disabled': 'Das Gastkonto ist eingeschaltet.',
  'accounts-have-passwords': 'Das Konto {username} hat kein Passwort.',
  'password-policy': [
    [{ minimum_length: '0' }, 'Passwörter dürfen beliebig kurz sein und sogar fehlen.'],
    [{ minimum_length: '1' }, 'Passwörter dürfen aus einem einzigen Zeichen bestehen.'],
    'Passwörter dürfen aus nur {minimum_length} Zeichen bestehen.',
  ],
  'user-not-local-administrator': 'Mit Administratorrechten angemeldet: {administrators}.',
  'sudo-requires-password':
    'In der Datei {source} steht eine Regel, nach der sudo kein Passwort verlangt: {rule}',
  'ssh-keys-encrypted': 'Der SSH-Schlüssel {path} des Kontos {username} hat keine Passphrase.',
  'password-manager-installed':
    'Es wurde kein Passwortmanager gefunden, weder unter den Programmen noch in einem Browser.',
  'two-factor-backup-codes': 'Diese Datei enthält ihrem Namen nach Ersatzcodes: {path}',
  'password-manager-kits':
    'Diese Datei ist ihrem Namen nach ein Notfallblatt oder ein Export eines Passwortmanagers: {path}',
  'plain-text-cloud-credentials':
    'In dieser Datei steht der Zugang zu einer Cloud im Klartext: {path}',
  'plain-text-registry-credentials':
    'In dieser Datei steht der Zugang zu einem Paket- oder Code-Server im Klartext: {path}',
  'remote-login-disabled': {
    darwin: 'Die entfernte Anmeldung ist an.',
    windows: 'Der SSH-Server von Windows läuft.',
    linux: 'Ein SSH-Server läuft ({active_units}).',
  },
  'root-ssh-login-disabled': 'Der SSH-Server lässt das Konto root mit einem Passwort ein.',
  'ssh-password-login-disabled': 'Der SSH-Server lässt Leute allein mit einem Passwort ein.',
  'remote-desktop-disabled': {
    windows: 'Windows nimmt Verbindungen über Remotedesktop an.',
    linux: 'Ein entfernter Schreibtisch läuft ({active_units}).',
  },
  'screen-sharing-disabled': 'Die Bildschirmfreigabe ist an.',
  'remote-management-disabled': 'Die entfernte Verwaltung ist an.',
  'remote-apple-events-disabled': 'Entfernte Anwendungs-Skripte sind erlaubt.',
  'remote-access-tools': ['{name} {version} ist installiert.', '{name} ist installiert.'],
  'file-sharing-disabled': {
    darwin: 'Die Dateifreigabe ist an.',
    windows: ['Im Netz freigegeben: {share_names}.', 'Ordner sind im Netz freigegeben.'],
    linux: 'Ein Dateiserver läuft ({active_units}).',
  },
  'internet-sharing-disabled': 'Die Internetfreigabe ist an.',
  'bluetooth-sharing-disabled': 'Die Bluetooth-Freigabe ist an.',
  'printer-sharing-disabled': 'Die Druckerfreigabe ist an.',
  'airdrop-not-open-to-everyone': 'AirDrop ist beim Konto {open_to_everyone} für alle offen.',
  'hosts-file-unaltered': [
    [{ hostname: 'all names' }, 'Windows nimmt seine hosts-Datei aus {address}.'],
    'Die hosts-Datei schickt {hostname} zu {address}.',
  ],
  'unexpected-root-certificates': [
    [
      { place: 'this computer' },
      'Das Stammzertifikat {name} wurde für den ganzen Rechner hinzugefügt.',
    ],
    [{ place: 'an account' }, 'Das Stammzertifikat {name} wurde für ein Konto hinzugefügt.'],
    'Das Stammzertifikat {name} wurde hinzugefügt: {place}',
    [
      { place: 'this computer' },
      'Ein Stammzertifikat wurde für den ganzen Rechner hinzugefügt: {certificate}',
    ],
    [{ place: 'an account' }, 'Ein Stammzertifikat wurde für ein Konto hinzugefügt: {certificate}'],
    'Ein Stammzertifikat wurde hinzugefügt: {place}',
  ],
  'smb1-disabled': 'Windows spricht noch SMB 1.',
  'smb-signing-required': [
    [{ client_requires: '0' }, 'Windows öffnet Dateien von Servern, die nichts signieren.'],
    'Windows lässt Rechner an seine Freigaben, die nichts signieren.',
  ],
  'ntlmv1-disabled': 'Windows antwortet mit NTLM Version 1 (Stufe {compatibility_level}).',
  'llmnr-disabled': 'Nichts hindert Windows daran, seine Nachbarn nach Namen zu fragen.',
  'chrome-up-to-date':
    'Google Chrome {version} ist installiert. Nötig ist mindestens die Version {minimum_major_version}.',
  'edge-up-to-date':
    'Microsoft Edge {version} ist installiert. Nötig ist mindestens die Version {minimum_major_version}.',
  'firefox-up-to-date':
    'Firefox {version} ist installiert. Nötig ist mindestens die Version {minimum_major_version}.',
  'safari-up-to-date': outdatedApplication,
  'xcode-up-to-date': outdatedApplication,
  'office-up-to-date': outdatedApplication,
  'sideloaded-browser-extensions': [
    'Die Erweiterung {name} im Browser {browser_type} stammt nicht aus dessen Store.',
    'Die Erweiterung in {path} stammt nicht aus dem Store ihres Browsers.',
  ],
  'malicious-extensions': [
    'Die Erweiterung {name} ist in der Version {version} installiert; diese haben Angreifer veröffentlicht.',
    'Die Erweiterung {identifier} ist in einer Version installiert, die Angreifer veröffentlicht haben.',
  ],
  'compromised-packages':
    'Das Paket {package} ({registry}) ist in der Version {version} installiert; diese haben Angreifer veröffentlicht.',
  'banned-applications': ['{name} {version} ist installiert.', '{name} ist installiert.'],
  'suspicious-launch-items': [
    'Das Programm {program} liegt in einem temporären Ordner, und {label} startet es von selbst.',
    'Ein Programm in einem temporären Ordner wird von {path} gestartet.',
  ],
  'mandatory-access-control': 'Weder SELinux noch AppArmor setzt Programmen Grenzen.',
  'autorun-disabled': 'Windows darf Programme eines Laufwerks starten, sobald es angesteckt wird.',
  'powershell-execution-policy': [
    'Eine Richtlinie hat PowerShell auf {group_policy} gestellt.',
    'PowerShell steht auf {machine_setting}.',
  ],
  'backups-encrypted': 'Time Machine sichert auf das Volume {alias}; es ist nicht verschlüsselt.',
  'disk-space': {
    darwin: 'Nur noch {free_percent} % der Festplatte sind frei.',
    windows: [
      'Nur noch {free_percent} % des Laufwerks {drive} sind frei.',
      'Nur noch {free_percent} % der Festplatte sind frei.',
    ],
    linux: 'Nur noch {free_percent} % der Festplatte sind frei.',
  },
  'restarted-recently': 'Der letzte Neustart ist {uptime_days} Tage her.',
  'restart-not-pending': 'Ein Update ist installiert und wartet auf einen Neustart.',
  'time-synchronised': {
    darwin: 'Die Uhr wird von Hand gestellt.',
    windows: [
      [{ service_start_type: 'disabled' }, 'Der Dienst Windows-Zeitgeber ist deaktiviert.'],
      'Windows stellt seine Uhr nach keiner Zeitquelle.',
    ],
    linux: 'Es läuft kein Dienst, der die Uhr stellt.',
  },
  'agent-up-to-date': 'osquery {version} ist installiert. Nötig ist mindestens {minimum_version}.',
  'mdm-enrolled': 'Es wurde keine Anmeldung bei einer Geräteverwaltung gefunden.',
}
