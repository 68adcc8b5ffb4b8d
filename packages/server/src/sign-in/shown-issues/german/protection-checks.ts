/* Checks of what protects a device against programs, in German. */
import type { CheckWordsBySlug } from './check-words.ts'

const WINDOWS_SECURITY =
  'Öffnen Sie **Start**, tippen Sie `Windows-Sicherheit`, öffnen Sie sie und wählen Sie **Viren- und Bedrohungsschutz**.'
const MANAGE_SETTINGS =
  'Wählen Sie unter **Einstellungen für Viren- und Bedrohungsschutz** **Einstellungen verwalten**.'
const MAC_RECOVERY =
  'Schalten Sie den Mac aus. Apple-Chip: Halten Sie den Ein/Aus-Knopf, bis **Startoptionen werden geladen** erscheint, dann **Optionen** > **Fortfahren**. Intel: Drücken Sie den Ein/Aus-Knopf und halten Sie sofort **Command-R**.'
const SWITCH_IS_FIXED = 'Lässt sich der Schalter nicht ändern, fragen Sie Ihre IT.'

export const protectionChecks: CheckWordsBySlug = {
  firewall: {
    name: 'Firewall',
    title: 'Die Firewall ist aus',
    privacy:
      'Ob die Firewall an ist und welches Programm oder welcher Dienst sie stellt. Keine Regeln und keine Verbindungen.',
    rationale:
      'Im Café, im Hotel oder zu Hause teilt {{ device.name }} ein Netz mit Geräten, um die sich niemand kümmert. Die Firewall hält sie von Programmen fern, die nie erreichbar sein sollten.',
    steps: {
      darwin: [
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Netzwerk** und wählen Sie **Firewall**.',
        'Schalten Sie **Firewall** ein.',
      ],
      windows: [
        'Öffnen Sie **Start**, tippen Sie `Windows-Sicherheit` und öffnen Sie sie.',
        'Wählen Sie **Firewall- und Netzwerkschutz**.',
        'Öffnen Sie nacheinander **Domänennetzwerk**, **Privates Netzwerk** und **Öffentliches Netzwerk** und schalten Sie die **Microsoft Defender Firewall** ein.',
      ],
      linux: `Öffnen Sie ein Terminal und führen Sie die Zeile für Ihre Distribution aus:

- Ubuntu und Debian: \`sudo apt install ufw && sudo ufw enable\`
- Fedora und Red Hat: \`sudo dnf install firewalld && sudo systemctl enable --now firewalld\`

Müssen andere Rechner diesen über SSH erreichen, führen Sie vorher \`sudo ufw allow ssh\` oder \`sudo firewall-cmd --permanent --add-service=ssh\` aus.`,
    },
  },
  antivirus: {
    name: 'Virenschutz',
    title: 'Der Virenschutz ist aus oder veraltet',
    privacy:
      'Die Namen der Virenschutzprogramme und ihr Zustand. Keine Ergebnisse von Prüfungen und keine Dateien.',
    rationale:
      'Ein Virenschutz hält bekannte Schadprogramme auf, bevor sie laufen. Windows meldet für {{ device.name }}: {{ issue.value.products | default: "kein Programm" }}.',
    steps: {
      windows: [
        WINDOWS_SECURITY,
        'Wird dort ein anderes Programm genannt, öffnen Sie es, schalten Sie es ein und aktualisieren Sie es. Eine abgelaufene Testversion deinstalliert man am besten: **Einstellungen** > **Apps** > **Installierte Apps**. Dann übernimmt Microsoft Defender.',
        'Wählen Sie unter **Updates für Viren- und Bedrohungsschutz** **Schutzupdates** > **Nach Updates suchen**.',
      ],
    },
  },
  'defender-real-time-protection': {
    name: 'Echtzeitschutz von Microsoft Defender',
    title: 'Der Echtzeitschutz ist aus',
    privacy:
      'Ob Microsoft Defender und sein Echtzeitschutz an sind. Keine Ergebnisse von Prüfungen.',
    rationale:
      'Der Echtzeitschutz sieht jede Datei in dem Augenblick an, in dem sie geöffnet wird. Ohne ihn wird ein Schadprogramm, wenn überhaupt, erst Tage später gefunden.',
    steps: {
      windows: [
        WINDOWS_SECURITY,
        MANAGE_SETTINGS,
        `Schalten Sie **Echtzeitschutz** und **Manipulationsschutz** ein. ${SWITCH_IS_FIXED}`,
      ],
    },
  },
  'defender-tamper-protection': {
    name: 'Manipulationsschutz von Microsoft Defender',
    title: 'Der Manipulationsschutz ist aus',
    privacy: 'Ob der Manipulationsschutz an und ein anderer Virenschutz aktiv ist.',
    rationale:
      'Erpressungsprogramme schalten als Erstes den Virenschutz aus. Mit dem Manipulationsschutz verweigert Windows das selbst einem Programm mit Administratorrechten.',
    steps: {
      windows: [
        WINDOWS_SECURITY,
        MANAGE_SETTINGS,
        `Schalten Sie **Manipulationsschutz** ein. ${SWITCH_IS_FIXED}`,
      ],
    },
  },
  'defender-exclusions': {
    name: 'Ausschlüsse von Microsoft Defender',
    title: 'Microsoft Defender lässt zu viel aus',
    privacy:
      'Zu weite Ausschlüsse von Microsoft Defender, in denen Namen von Konten stehen können. Keine Ergebnisse von Prüfungen.',
    rationale:
      'Microsoft Defender sieht {{ issue.value.exclusion | code }} nicht an. Schadprogramme legen sich genau dorthin, weil niemand hinsieht, und tragen solche Ausschlüsse oft selbst ein.',
    steps: {
      windows: [
        WINDOWS_SECURITY,
        `${MANAGE_SETTINGS} Wählen Sie dann **Ausschlüsse hinzufügen oder entfernen**.`,
        'Wählen Sie {{ issue.value.exclusion | code }} > **Entfernen**. Braucht ein Programm einen Ausschluss, schließen Sie nur seinen eigenen Ordner aus.',
        'Lässt sich der Ausschluss nicht entfernen, setzt ihn eine Richtlinie: Fragen Sie Ihre IT.',
      ],
    },
  },
  gatekeeper: {
    name: 'Gatekeeper',
    title: 'Gatekeeper ist aus',
    privacy: 'Ob Gatekeeper an ist. Keine Apps.',
    rationale:
      'Gatekeeper hält Apps auf, für die niemand einsteht oder die Apple als schädlich kennt. Ohne ihn genügt ein falscher Download, um {{ device.name }} aus der Hand zu geben.',
    steps: {
      darwin: [
        'Öffnen Sie **Terminal** (in **Programme** > **Dienstprogramme**), führen Sie `sudo spctl --global-enable` aus und geben Sie Ihr Passwort ein.',
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Datenschutz & Sicherheit**, blättern Sie bis **Sicherheit** und stellen Sie **Apps erlauben von** auf **App Store & verifizierten Entwicklern**.',
      ],
    },
  },
  'system-integrity-protection': {
    name: 'Systemintegritätsschutz',
    title: 'Der Systemintegritätsschutz ist aus',
    privacy: 'Ob der Systemintegritätsschutz an ist.',
    rationale:
      'Der Systemintegritätsschutz verhindert, dass sich Schadprogramme in macOS verstecken, selbst wenn sie das Passwort eines Administrators haben. Ausgeschaltet wird er nur von Hand.',
    steps: {
      darwin: [
        MAC_RECOVERY,
        'Wählen Sie in der Menüleiste **Dienstprogramme** > **Terminal**, führen Sie `csrutil enable` aus und geben Sie Ihr Passwort ein, wenn danach gefragt wird.',
        'Starten Sie über das Apple-Menü neu.',
      ],
    },
  },
  'malware-definition-updates': {
    name: 'Updates gegen Schadprogramme',
    title: 'Updates der Beschreibungen von Schadprogrammen sind aus',
    privacy:
      'Die Version von XProtect und ob es aktualisiert wird. Keine Ergebnisse von Prüfungen.',
    rationale:
      'macOS erkennt Schadprogramme an einer Liste, die Apple alle paar Tage erweitert. Einem Mac, der sie nicht holt, entgeht alles Neue.',
    steps: {
      darwin: [
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Allgemein** > **Softwareupdate**.',
        'Wählen Sie die **Info**-Taste (i) neben **Automatische Updates**, schalten Sie **Sicherheitsmaßnahmen und Systemdateien installieren** ein und wählen Sie **Fertig**.',
      ],
    },
  },
  'endpoint-detection-running': {
    name: 'Angriffserkennung läuft',
    title: 'Keine Angriffserkennung läuft',
    privacy: 'Welche der bekannten Programme laufen. Nichts von dem, was sie gefunden haben.',
    rationale:
      'Eine Angriffserkennung sagt dem Sicherheitsteam von {{ organisation.name | default: "Ihrer Organisation" }}, wenn jemand in {{ device.name }} einbricht. Ohne sie kann ein Einbruch Monate unbemerkt bleiben.',
    steps: [
      'Starten Sie das Gerät neu. Nach einem Update läuft die Erkennung dann oft wieder.',
      'Auf einem Mac öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Allgemein** > **Anmeldeobjekte & Erweiterungen** > **Endpoint-Security-Erweiterungen** und schalten Sie sie ein.',
      'Bleibt es dabei, bitten Sie Ihre IT, die Erkennung Ihrer Organisation zu installieren. Installieren Sie keine selbst.',
    ],
  },
  'secure-boot': {
    name: 'Sicheres Starten',
    title: 'Sicheres Starten ist aus',
    privacy: 'Die Einstellung der Firmware für sicheres Starten.',
    rationale:
      'Was vor dem Betriebssystem startet, kann alles sehen und sich vor allen verstecken. Mit sicherem Starten wird es nicht gestartet.',
    steps: {
      darwin: [
        MAC_RECOVERY,
        'Wählen Sie in der Menüleiste **Dienstprogramme** > **Startsicherheitsdienstprogramm**.',
        'Wählen Sie **Volle Sicherheit** und starten Sie neu.',
      ],
      windows: [
        'Halten Sie Ihren Wiederherstellungsschlüssel von BitLocker bereit: Windows kann einmal danach fragen.',
        'Öffnen Sie **Einstellungen** > **System** > **Wiederherstellung** und wählen Sie neben **Erweiterter Start** **Jetzt neu starten**.',
        'Wählen Sie **Problembehandlung** > **Erweiterte Optionen** > **UEFI-Firmwareeinstellungen** > **Neu starten**.',
        'Suchen Sie **Secure Boot**, meist unter **Boot** oder **Security**, stellen Sie es auf **Enabled**, speichern Sie und gehen Sie hinaus.',
      ],
      linux: [
        'Benutzen Sie Treiber von außerhalb Ihrer Distribution (NVIDIA, VirtualBox), signieren Sie sie zuerst: unter Ubuntu mit `sudo update-secureboot-policy --enroll-key`.',
        'Führen Sie `systemctl reboot --firmware-setup` aus.',
        'Suchen Sie **Secure Boot**, meist unter **Boot** oder **Security**, stellen Sie es auf **Enabled**, speichern Sie und gehen Sie hinaus.',
        'Prüfen Sie es mit `mokutil --sb-state`.',
      ],
    },
  },
  'tpm-ready': {
    name: 'TPM bereit',
    title: 'Der Sicherheitschip (TPM) fehlt oder ist nicht bereit',
    privacy: 'Ob ein TPM da und bereit ist, und seine Version. Keine Schlüssel.',
    rationale:
      'Der Sicherheitschip bewahrt die Schlüssel von BitLocker und Windows Hello dort auf, wo niemand sie kopieren kann. Ohne ihn liegen sie auf der Festplatte oder werden gar nicht benutzt.',
    steps: {
      windows: [
        'Öffnen Sie **Start**, tippen Sie `tpm.msc` und öffnen Sie es.',
        'Steht dort, dass kein kompatibles TPM gefunden wurde, ist der Chip aus: Starten Sie in die Einstellungen der Firmware (**Einstellungen** > **System** > **Wiederherstellung** > **Erweiterter Start**) und schalten Sie **TPM**, **PTT** (Intel) oder **fTPM** (AMD) ein.',
        'Steht dort, dass das TPM nicht bereit ist, wählen Sie **TPM vorbereiten …** und starten Sie neu.',
        'Bevor Sie **TPM löschen …** wählen, sehen Sie nach, ob Sie Ihren Wiederherstellungsschlüssel von BitLocker haben: Fragen Sie Ihre IT.',
      ],
    },
  },
  'user-account-control': {
    name: 'Benutzerkontensteuerung',
    title: 'Die Benutzerkontensteuerung ist aus',
    privacy: 'Die Einstellungen der Benutzerkontensteuerung.',
    rationale:
      'Die Benutzerkontensteuerung ist die Frage, ob eine App Änderungen an diesem Gerät vornehmen darf. Ohne sie darf jedes Programm, das Sie öffnen, alles ändern, und keines muss fragen.',
    steps: {
      windows: [
        'Öffnen Sie **Start**, tippen Sie `UAC` und öffnen Sie **Einstellungen der Benutzerkontensteuerung ändern**.',
        'Schieben Sie den Regler auf **Nur benachrichtigen, wenn Apps versuchen, Änderungen am Computer vorzunehmen (Standard)** oder höher und wählen Sie **OK**.',
        'Starten Sie den Rechner neu.',
      ],
    },
  },
  'lsa-protection': {
    name: 'Schutz der lokalen Sicherheitsautorität',
    title: 'Die lokale Sicherheitsautorität ist nicht geschützt',
    privacy:
      'Ob die lokale Sicherheitsautorität geschützt ist. Keine Passwörter und keine Sitzungen.',
    rationale:
      'Ein Prozess von Windows, die lokale Sicherheitsautorität, hält die Passwörter und Tickets aller Angemeldeten. Ungeschützt liest ein Schadprogramm mit Administratorrechten sie in Sekunden aus und geht weiter zum nächsten Rechner.',
    steps: {
      windows: [
        'Öffnen Sie **Start**, tippen Sie `Windows-Sicherheit`, öffnen Sie sie und wählen Sie **Gerätesicherheit** > **Details zur Kernisolierung**.',
        'Schalten Sie **Schutz durch lokale Sicherheitsautorität** ein und starten Sie neu.',
        'Fehlt der Schalter oder lässt er sich nicht ändern, fragen Sie Ihre IT: Eine Richtlinie kann ihn setzen.',
      ],
    },
  },
  'credential-guard': {
    name: 'Credential Guard',
    title: 'Credential Guard läuft nicht',
    privacy:
      'Die Edition von Windows, ob Credential Guard läuft und wie es eingestellt ist. Keine anderen Prozesse.',
    rationale:
      'Credential Guard bewahrt die Geheimnisse der Angemeldeten dort auf, wo selbst Windows sie nicht lesen kann. Wer ohne es {{ device.name }} übernimmt, übernimmt auch ihre Konten.',
    steps: {
      windows: [
        'Ihre IT schaltet Credential Guard für Ihre Organisation ein: Schicken Sie ihr diese Seite.',
        'Für einen einzelnen PC: Öffnen Sie **Start**, tippen Sie `gpedit`, öffnen Sie **Gruppenrichtlinie bearbeiten** und gehen Sie zu **Computerkonfiguration** > **Administrative Vorlagen** > **System** > **Device Guard**.',
        'Öffnen Sie **Virtualisierungsbasierte Sicherheit aktivieren**, wählen Sie **Aktiviert**, stellen Sie die **Credential Guard-Konfiguration** auf **Aktiviert ohne Sperre**, wählen Sie **OK** und starten Sie neu.',
        'Läuft es dann noch nicht, ist in der Firmware des PCs die Virtualisierung oder Secure Boot aus.',
      ],
    },
  },
}
