/* Checks of what a device offers to others, in German. */
import type { CheckWords, CheckWordsBySlug } from './check-words.ts'
import { EXEMPTION, SHARING } from './phrases.ts'

/** A service of macOS that is switched off on one page of its settings. */
function sharingSwitch(label: string, words: Omit<CheckWords, 'steps'>): CheckWords {
  return { ...words, steps: { darwin: [SHARING, `Schalten Sie **${label}** aus.`] } }
}

export const sharingChecks: CheckWordsBySlug = {
  'remote-login-disabled': {
    name: 'Entfernte Anmeldung aus',
    title: 'Die entfernte Anmeldung (SSH) ist an',
    privacy: 'Ob der SSH-Server läuft. Keine Konten, Schlüssel oder Sitzungen.',
    rationale:
      'Mit der entfernten Anmeldung kann jeder im selben Netz, der ein Passwort errät oder stiehlt, an {{ device.name }} arbeiten, als säße er davor. Tragbare Rechner brauchen das selten.',
    steps: {
      darwin: [SHARING, 'Schalten Sie **Entfernte Anmeldung** aus.'],
      windows: [
        'Öffnen Sie **Start**, tippen Sie `Dienste` und öffnen Sie **Dienste**.',
        'Öffnen Sie **OpenSSH SSH Server**, wählen Sie **Beenden**, stellen Sie **Starttyp** auf **Deaktiviert** und wählen Sie **OK**.',
      ],
      linux: `Öffnen Sie ein Terminal und führen Sie die Zeile für Ihre Distribution aus:

- Ubuntu und Debian: \`sudo systemctl disable --now ssh.socket ssh.service\`
- Fedora und Red Hat: \`sudo systemctl disable --now sshd.socket sshd.service\`

${EXEMPTION}`,
    },
  },
  'root-ssh-login-disabled': {
    name: 'Keine SSH-Anmeldung als root',
    title: 'root darf sich über SSH mit einem Passwort anmelden',
    privacy: 'Der Wert von PermitRootLogin in der Konfiguration des SSH-Servers.',
    rationale:
      'Jedes Linux hat ein Konto namens root, das alles darf. Ist seine Anmeldung aus dem Netz offen, müssen Angreifer nur noch das Passwort erraten.',
    steps: [
      'Öffnen Sie ein Terminal und führen Sie `sudoedit /etc/ssh/sshd_config` aus.',
      'Ändern Sie die Zeile `PermitRootLogin yes` in `PermitRootLogin no` und speichern Sie. Fehlt sie dort, steht sie in einer Datei im Ordner `/etc/ssh/sshd_config.d`.',
      'Führen Sie `sudo sshd -T | grep -i permitrootlogin` aus; dort darf nicht `yes` stehen.',
      'Ubuntu und Debian: `sudo systemctl reload ssh`. Fedora und Red Hat: `sudo systemctl reload sshd`.',
    ],
  },
  'ssh-password-login-disabled': {
    name: 'Keine SSH-Anmeldung mit Passwörtern',
    title: 'SSH nimmt Passwörter an',
    privacy:
      'Ob der SSH-Server läuft und welche Arten der Anmeldung er annimmt. Keine Konten, Schlüssel oder Sitzungen.',
    rationale:
      'Wer {{ device.name }} über das Netz erreicht, darf Passwörter probieren, und Programme tun das den ganzen Tag. Ein Schlüssel lässt sich nicht erraten.',
    steps: {
      darwin: [
        'Sehen Sie nach, ob Sie sich mit einem Schlüssel anmelden können; brauchen Sie SSH gar nicht, schalten Sie **Entfernte Anmeldung** aus (Apple-Menü > **Systemeinstellungen** > **Allgemein** > **Teilen**) und sind fertig.',
        String.raw`Öffnen Sie **Terminal** und führen Sie ${'`'}printf 'PasswordAuthentication no\nKbdInteractiveAuthentication no\n' | sudo tee /etc/ssh/sshd_config.d/01-keys-only.conf${'`'} aus.`,
        'Führen Sie `sudo sshd -t` aus; es darf nichts ausgeben.',
      ],
      linux: [
        'Sehen Sie nach, ob Sie sich mit einem Schlüssel anmelden können: Sonst sperren Sie sich aus.',
        String.raw`Öffnen Sie ein Terminal und führen Sie ${'`'}printf 'PasswordAuthentication no\nKbdInteractiveAuthentication no\n' | sudo tee /etc/ssh/sshd_config.d/01-keys-only.conf${'`'} aus.`,
        "Führen Sie `sudo sshd -T | grep -iE 'passwordauth|kbdinter'` aus. Bei beiden muss `no` stehen; wenn nicht, bindet `/etc/ssh/sshd_config` diesen Ordner nicht ein, oder ein Block **Match** darin erlaubt Passwörter: Ändern Sie es dort.",
        'Ubuntu und Debian: `sudo systemctl reload ssh`. Fedora und Red Hat: `sudo systemctl reload sshd`.',
      ],
    },
  },
  'remote-desktop-disabled': {
    name: 'Remotedesktop aus',
    title: 'Remotedesktop ist an',
    privacy: 'Ob ein Remotedesktop Verbindungen annimmt. Nichts vom Bildschirm.',
    rationale:
      'Remotedesktop ist die Tür, an der Erpresserbanden zuerst rütteln: Ein erratenes oder bekannt gewordenes Passwort genügt, um von überall her, wo {{ device.name }} erreichbar ist, davor zu sitzen.',
    steps: {
      windows: [
        'Öffnen Sie **Einstellungen** > **System** > **Remotedesktop**.',
        'Schalten Sie **Remotedesktop** aus und bestätigen Sie.',
        'Lässt sich der Schalter nicht ändern, setzt ihn eine Richtlinie Ihrer Organisation: Fragen Sie Ihre IT.',
      ],
      linux: [
        'GNOME: Öffnen Sie **Einstellungen** > **System** > **Entfernter Schreibtisch** und schalten Sie beides dort aus.',
        'Sonst öffnen Sie ein Terminal und führen Sie `sudo systemctl disable --now xrdp.service` mit dem Namen des gefundenen Dienstes aus: **{{ issue.value.active_units }}**.',
      ],
    },
  },
  'screen-sharing-disabled': sharingSwitch('Bildschirmfreigabe', {
    name: 'Bildschirmfreigabe aus',
    title: 'Die Bildschirmfreigabe ist an',
    privacy: 'Ob die Bildschirmfreigabe an ist. Nichts vom Bildschirm.',
    rationale:
      'Mit der Bildschirmfreigabe können andere im Netz diesen Mac sehen und steuern. Davor steht nur ein Passwort, das sich erraten lässt. Haben Sie sie einmal eingeschaltet, damit Ihnen jemand hilft, schalten Sie sie wieder aus.',
  }),
  'remote-management-disabled': sharingSwitch('Entfernte Verwaltung', {
    name: 'Entfernte Verwaltung aus',
    title: 'Die entfernte Verwaltung ist an',
    privacy: 'Ob die entfernte Verwaltung an ist.',
    rationale:
      'Die entfernte Verwaltung gibt anderen die ganze Gewalt über diesen Mac: Bildschirm, Dateien und Software. Nur Ihre IT hat Verwendung dafür.',
  }),
  'remote-apple-events-disabled': sharingSwitch('Entfernte Anwendungs-Skripte', {
    name: 'Entfernte Anwendungs-Skripte aus',
    title: 'Andere Rechner dürfen die Apps dieses Macs steuern',
    privacy: 'Ob entfernte Anwendungs-Skripte erlaubt sind. Keine Apps und keine Skripte.',
    rationale:
      'Damit können Programme auf anderen Rechnern die Apps dieses Macs steuern: Dokumente öffnen, Mails lesen, Skripte ausführen. Nur ein Passwort steht davor, und kaum jemand benutzt es.',
  }),
  'file-sharing-disabled': {
    name: 'Dateifreigabe aus',
    title: 'Ordner sind im Netz freigegeben',
    privacy:
      'Ob Ordner freigegeben sind und, unter Windows, die Namen der Freigaben. Keine Dateien.',
    rationale:
      'Ein Ordner, der zu Hause freigegeben wurde, wird auch im nächsten Café angeboten. Andere im Netz können ihn lesen, ändern oder Dateien hineinlegen, die Sie dann öffnen.',
    steps: {
      darwin: [SHARING, 'Schalten Sie **Dateifreigabe** aus.'],
      windows: [
        'Öffnen Sie **Start**, tippen Sie `Computerverwaltung` und öffnen Sie sie.',
        'Wählen Sie **Freigegebene Ordner** > **Freigaben**. Dort steht: **{{ issue.value.share_names }}**.',
        'Klicken Sie mit der rechten Taste auf jede davon, wählen Sie **Freigabe beenden** und bestätigen Sie. Lassen Sie Namen, die auf **$** enden, in Ruhe.',
      ],
      linux: `Öffnen Sie ein Terminal und schalten Sie aus, was läuft (**{{ issue.value.active_units }}**), zum Beispiel:

- Ubuntu und Debian: \`sudo systemctl disable --now smbd.service nfs-kernel-server.service\`
- Fedora und Red Hat: \`sudo systemctl disable --now smb.service nfs-server.service\``,
    },
  },
  'internet-sharing-disabled': sharingSwitch('Internetfreigabe', {
    name: 'Internetfreigabe aus',
    title: 'Die Internetfreigabe ist an',
    privacy: 'Ob die Internetfreigabe an ist. Keine verbundenen Geräte.',
    rationale:
      'Mit der Internetfreigabe ist dieser Mac ein Router: Unbekannte Geräte erreichen im Namen von {{ device.name }} das Netz, in dem er ist, vorbei an dessen eigenem Schutz.',
  }),
  'bluetooth-sharing-disabled': sharingSwitch('Bluetooth-Freigabe', {
    name: 'Bluetooth-Freigabe aus',
    title: 'Die Bluetooth-Freigabe ist an',
    privacy: 'Ob die Bluetooth-Freigabe an ist. Keine gekoppelten Geräte.',
    rationale:
      'Mit der Bluetooth-Freigabe können Geräte in der Nähe diesem Mac Dateien schicken und einen Ordner darauf durchsehen. AirDrop tut dasselbe sicherer.',
  }),
  'printer-sharing-disabled': sharingSwitch('Druckerfreigabe', {
    name: 'Druckerfreigabe aus',
    title: 'Drucker sind im Netz freigegeben',
    privacy: 'Ob die Druckerfreigabe an ist. Keine Drucker und keine Dokumente.',
    rationale:
      'Mit der Druckerfreigabe nimmt dieser Mac Aufträge von allen im Netz an. Die Software dahinter hatte Lücken, durch die andere Programme ausführen konnten, und niemand muss die Drucker durch {{ device.name }} erreichen.',
  }),
  'airdrop-not-open-to-everyone': {
    name: 'AirDrop nicht für alle offen',
    title: 'AirDrop ist für alle offen',
    privacy:
      'Die Namen der Konten, deren AirDrop für alle offen ist. Keine Dateien, keine Kontakte.',
    rationale:
      'Im Zug oder im Café sehen Fremde den Namen dieses Macs und können ihm Dateien schicken, mit einem anstößigen Bild als Vorschau oder etwas Schädlichem darin.',
    steps: {
      darwin: [
        'Öffnen Sie das Apple-Menü > **Systemeinstellungen** > **Allgemein** > **AirDrop & Handoff**.',
        'Stellen Sie **AirDrop** auf **Nur für Kontakte** oder **Niemand**.',
      ],
    },
  },
}
