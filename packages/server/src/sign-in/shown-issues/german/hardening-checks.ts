/* Checks of what makes a device harder to attack, in German. */
import type { CheckWordsBySlug } from './check-words.ts'
import { ADMIN_TERMINAL } from './phrases.ts'

export const hardeningChecks: CheckWordsBySlug = {
  'mandatory-access-control': {
    name: 'SELinux oder AppArmor aktiv',
    title: 'SELinux und AppArmor sind aus',
    privacy: 'Ob SELinux durchgesetzt wird und wie viele Profile von AppArmor.',
    rationale:
      'SELinux und AppArmor hindern ein Programm, in das eingebrochen wurde, daran, mehr als seine eigenen Dateien anzufassen. Ihre Distribution schaltet eines von beiden ein; hier sind beide aus.',
    steps: `Öffnen Sie ein Terminal.

- Ubuntu und Debian: \`sudo apt install apparmor && sudo systemctl enable --now apparmor\`
- Fedora und Red Hat: Führen Sie \`sudoedit /etc/selinux/config\` aus, setzen Sie \`SELINUX=enforcing\` und speichern Sie. War SELinux ganz abgeschaltet, führen Sie \`sudo fixfiles -F onboot\` aus. Starten Sie dann neu; der erste Start dauert eine Weile.`,
  },
  'autorun-disabled': {
    name: 'AutoRun aus',
    title: 'AutoRun ist an',
    privacy: 'Die Einstellungen von AutoRun. Keine Laufwerke und keine Dateien.',
    rationale:
      'Ein präparierter USB-Stick, auf dem Parkplatz gefunden oder auf einer Messe verteilt, sollte von selbst nichts starten können.',
    steps: {
      windows: [
        ADMIN_TERMINAL,
        String.raw`Führen Sie ${'`'}reg add HKLM\SOFTWARE\Microsoft\Windows\CurrentVersion\Policies\Explorer /v NoDriveTypeAutoRun /t REG_DWORD /d 255 /f${'`'} aus.`,
        'Öffnen Sie **Einstellungen** > **Bluetooth und Geräte** > **Automatische Wiedergabe** und schalten Sie sie für alle Medien und Geräte aus.',
      ],
    },
  },
  'powershell-execution-policy': {
    name: 'Ausführungsrichtlinie von PowerShell',
    title: 'PowerShell führt jedes Skript aus',
    privacy: 'Die Ausführungsrichtlinie von PowerShell. Keine Skripte und kein Verlauf.',
    rationale:
      'Skripte sind ein beliebtes Werkzeug von Angreifern. Mit der jetzigen Einstellung führt PowerShell jedes aus, auch eines, das mit einer Mail kam.',
    steps: {
      windows: [
        ADMIN_TERMINAL,
        'Führen Sie `Set-ExecutionPolicy -ExecutionPolicy RemoteSigned -Scope LocalMachine` aus und antworten Sie mit **J**. Ihre eigenen Skripte laufen weiter.',
        'Wird das verweigert, setzt eine Richtlinie Ihrer Organisation die Einstellung: Fragen Sie Ihre IT.',
      ],
    },
  },
  'smb1-disabled': {
    name: 'SMB 1 aus',
    title: 'Das veraltete SMB 1 ist an',
    privacy: 'Ob SMB 1 installiert und eingeschaltet ist.',
    rationale:
      'SMB 1 ist mehr als dreißig Jahre alt und lässt sich nicht sicher machen: Der Wurm WannaCry verbreitete sich darüber. Nur sehr alte Drucker und Speicher brauchen es noch.',
    steps: {
      windows: [
        'Öffnen Sie **Start**, tippen Sie `Windows-Features` und öffnen Sie **Windows-Features aktivieren oder deaktivieren**.',
        'Nehmen Sie das Häkchen bei **Unterstützung für die SMB 1.0/CIFS-Dateifreigabe** weg, wählen Sie **OK** und starten Sie neu.',
      ],
    },
  },
  'smb-signing-required': {
    name: 'SMB-Signaturen verlangt',
    title: 'Windows verlangt von Dateiservern keine Signaturen',
    privacy:
      'Ob Signaturen für SMB verlangt werden, und der Build von Windows. Keine Server und keine Dateien.',
    rationale:
      'Ohne Signaturen kann sich ein Angreifer im selben Netz zwischen {{ device.name }} und einen Dateiserver stellen, ändern, was hin und her geht, und Ihre Anmeldung für sich benutzen.',
    steps: {
      windows: [
        ADMIN_TERMINAL,
        'Führen Sie `Set-SmbClientConfiguration -RequireSecuritySignature $true -Force` aus.',
        'Führen Sie `Set-SmbServerConfiguration -RequireSecuritySignature $true -Force` aus.',
        'Geht danach ein Drucker oder ein Netzlaufwerk nicht mehr, kann es nicht signieren: Fragen Sie Ihre IT.',
      ],
    },
  },
  'ntlmv1-disabled': {
    name: 'NTLMv1 aus',
    title: 'Windows benutzt das veraltete NTLM Version 1',
    privacy: 'Die Stufe von NTLM, die Windows benutzt. Keine Passwörter und keine Anmeldungen.',
    rationale:
      'NTLM Version 1 beweist einem Server ein Passwort so, dass jeder unterwegs es in Stunden knacken kann. Von selbst benutzt Windows es seit 2007 nicht mehr: Jemand hat es wieder eingeschaltet.',
    steps: {
      windows: [
        ADMIN_TERMINAL,
        String.raw`Führen Sie ${'`'}reg add HKLM\SYSTEM\CurrentControlSet\Control\Lsa /v LmCompatibilityLevel /t REG_DWORD /d 5 /f${'`'} aus und starten Sie neu.`,
        'Kommt der Wert wieder, setzt ihn eine Richtlinie Ihrer Organisation: Fragen Sie Ihre IT. Ein alter Dateiserver oder Drucker braucht vielleicht zuerst ein Update.',
      ],
    },
  },
  'llmnr-disabled': {
    name: 'LLMNR aus',
    title: 'Windows fragt jedes Gerät im Netz nach Namen',
    privacy: 'Ob LLMNR an ist. Keine Namen, nach denen gefragt wurde.',
    rationale:
      'Bei einem vertippten Namen fragt Windows alle Geräte im selben Netz, wer das ist, und glaubt der ersten Antwort. Ein Angreifer im selben Café antwortet, und {{ device.name }} gibt ihm einen Beweis Ihres Passworts, der sich knacken lässt.',
    steps: {
      windows: [
        'Ihre IT setzt das für alle PCs mit der Richtlinie **Multicast-Namensauflösung deaktivieren**. Für einen einzelnen PC:',
        ADMIN_TERMINAL,
        String.raw`Führen Sie ${'`'}reg add "HKLM\SOFTWARE\Policies\Microsoft\Windows NT\DNSClient" /v EnableMulticast /t REG_DWORD /d 0 /f${'`'} aus und starten Sie neu.`,
      ],
    },
  },
  'hosts-file-unaltered': {
    name: 'hosts-Datei unverändert',
    title: 'Die hosts-Datei schickt einen bekannten Namen woandershin',
    privacy:
      'Die Einträge der hosts-Datei für bekannte Adressen von Anmeldung, Updates und Schutz. Keine anderen Einträge.',
    rationale:
      'Auf {{ device.name }} führt der Name {{ issue.value.hostname | code }} zu {{ issue.value.address | code }} statt dorthin, wohin er gehört. Schadprogramme tun das, um Passwörter abzufangen oder Updates und Schutz fernzuhalten.',
    steps: {
      darwin: [
        'Öffnen Sie **Terminal** und führen Sie `sudo nano /etc/hosts` aus.',
        'Löschen Sie {{ issue.value.hostname | code }} oder die ganze Zeile. Drücken Sie **Ctrl-O**, **Return** und **Ctrl-X**.',
        'Haben Sie diese Zeile nicht selbst geschrieben, sagen Sie es Ihrer IT: Dann war es etwas anderes.',
      ],
      windows: [
        'Öffnen Sie **Start**, tippen Sie `Editor`, klicken Sie mit der rechten Taste darauf und wählen Sie **Als Administrator ausführen**.',
        String.raw`Wählen Sie **Datei** > **Öffnen …**, geben Sie ${'`'}C:\Windows\System32\drivers\etc\hosts${'`'} ein, löschen Sie die Zeile mit {{ issue.value.hostname | code }} und speichern Sie. (Steht dort **all names**, nimmt Windows eine andere Datei: Sagen Sie es Ihrer IT.)`,
        'Haben Sie diese Zeile nicht selbst geschrieben, sagen Sie es Ihrer IT: Dann war es etwas anderes.',
      ],
      linux: [
        'Öffnen Sie ein Terminal und führen Sie `sudoedit /etc/hosts` aus.',
        'Löschen Sie {{ issue.value.hostname | code }} oder die ganze Zeile und speichern Sie.',
        'Haben Sie diese Zeile nicht selbst geschrieben, sagen Sie es Ihrer IT: Dann war es etwas anderes.',
      ],
    },
  },
  'unexpected-root-certificates': {
    name: 'Keine unerwarteten Stammzertifikate',
    title: 'Ein Stammzertifikat wurde hinzugefügt',
    privacy:
      'Name, Fingerabdruck und Ort hinzugefügter Stammzertifikate. Keine anderen Zertifikate und keine Schlüssel.',
    rationale:
      'Wem das Zertifikat {{ issue.value.name | code }} gehört, der kann sich gegenüber {{ device.name }} als jede Website ausgeben, als Ihre Bank wie als Ihre Mail, und das Schloss im Browser bleibt zu. Organisationen, Entwickler und manche Virenschutzprogramme fügen mit Absicht eines hinzu; Werbeprogramme und Angreifer auch.',
    steps: {
      darwin: [
        'Gehört das Zertifikat Ihrer Organisation oder zu Ihrer Arbeit, beantragen Sie eine Ausnahme.',
        'Sonst öffnen Sie die **Schlüsselbundverwaltung** und wählen Sie **System** > **Zertifikate**.',
        'Klicken Sie mit der rechten Taste auf {{ issue.value.name | code }}, wählen Sie **Löschen** und geben Sie Ihr Passwort ein. Entfernen Sie dann das Programm, das es hinzugefügt hat.',
      ],
      windows: [
        'Gehört das Zertifikat Ihrer Organisation oder zu Ihrer Arbeit, beantragen Sie eine Ausnahme.',
        'Sonst öffnen Sie **Start**, tippen Sie `certlm.msc` (für ein Konto: `certmgr.msc`) und öffnen Sie es.',
        'Wählen Sie **Vertrauenswürdige Stammzertifizierungsstellen** > **Zertifikate**, klicken Sie mit der rechten Taste auf {{ issue.value.name | code }} und wählen Sie **Löschen**. Sein Fingerabdruck ist {{ issue.value.certificate | code }}. Entfernen Sie dann das Programm, das es hinzugefügt hat.',
      ],
      linux: [
        'Gehört das Zertifikat Ihrer Organisation oder zu Ihrer Arbeit, beantragen Sie eine Ausnahme.',
        'Sonst öffnen Sie ein Terminal und löschen Sie mit `sudo rm` die Datei: {{ issue.value.place | code }}',
        'Ubuntu und Debian: `sudo update-ca-certificates --fresh`. Fedora, Red Hat und Arch: `sudo update-ca-trust`.',
      ],
    },
  },
}
