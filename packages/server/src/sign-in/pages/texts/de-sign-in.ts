/* What the pages of a sign-in say in German. */

/** What is said of an issue. */
export const issues = {
  fixed: 'Behoben',
  exempted: 'Ausgenommen',
  blocks: 'Sperrt jetzt',
  blocksPrefix: 'Sperrt',
  notice: 'Zu Ihrer Kenntnis',
  foundTitle: 'Was gefunden wurde',
  exactAnswer: 'Die Antwort des Geräts im Wortlaut',
  stepsTitle: 'Was zu tun ist',
  takes: (minutes: number) => `etwa ${minutes} min`,
  openSettings: 'Einstellungen öffnen',
  fixedIt: 'Ich habe es behoben',
  asking: 'Ihr Gerät wird gefragt. Das dauert ein, zwei Sekunden, solange es online ist.',
  stillFailing: 'Ihr Gerät hat geantwortet: Es ist noch so.',
  passing: 'Ihr Gerät hat geantwortet: Das ist jetzt in Ordnung.',
  lastChecked: 'Zuletzt geprüft',
  askExemption: 'Ich kann das nicht beheben: Ausnahme beantragen',
  exemptionMore:
    'Ein Admin entscheidet, meist innerhalb eines Arbeitstags. Sie sehen die Entscheidung hier.',
  exemptionReason: 'Warum lässt es sich nicht beheben?',
  sendRequest: 'Antrag senden',
  snooze: 'Nicht jetzt: später erinnern',
  snoozeMore:
    'Bis dahin gehen Ihre Anmeldungen ohne diesen Hinweis weiter. Sie können ihn einmal in der Woche aufschieben.',
  snoozeStillBlocks:
    'Bis dahin gehen Ihre Anmeldungen weiter, ohne es zu zeigen. Es sperrt trotzdem zur selben Zeit. Sie können es einmal in der Woche aufschieben.',
  snoozeFor: (days: number) => (days === 1 ? 'In 1 Tag' : `In ${days} Tagen`),
  snoozedUntil: 'Sie werden wieder erinnert:',
  remindAgain: 'Jetzt wieder erinnern',
  exemptionOpen: 'Sie haben eine Ausnahme beantragt. Ein Admin hat noch nicht entschieden.',
  exemptedUntil: 'Es zählt nicht bis',
  withdraw: 'Meinen Antrag zurückziehen',
  exemptionDenied: 'Ihr letzter Antrag auf eine Ausnahme wurde abgelehnt.',
}

/** What is said of a sign-in. */
export const attempt = {
  personTitle: 'Noch nicht angemeldet',
  whoHere: 'Ihre Anmeldung ist noch nicht von Ihrem Anbieter zurück.',
  whoSignsIn: (application: string) =>
    `Ihre Anmeldung bei ${application} ist noch nicht von Ihrem Anbieter zurück.`,
  whoMore:
    'Melden Sie sich bei Ihrem Anbieter an, in dem Fenster, das danach fragt, oder beginnen Sie dort noch einmal, wo Sie herkamen.',
  email: 'Ihre E-Mail-Adresse bei der Arbeit',
  goOn: 'Weiter',
  proofTitle: 'Ihr Gerät wird erkannt',
  proof: 'Ihr Gerät wird erkannt …',
  proofMore: (name: string) =>
    `${name === '' ? 'Ihr' : `${name}, Ihr`} Browser öffnet drei Verbindungen, und Ihre Geräte werden gefragt, welches von ihnen sie hält. Das dauert ein paar Sekunden.`,
  proofWithoutScript:
    'Ihr Browser führt keine Skripte aus, darum kann er diese Verbindungen nicht öffnen.',
  otherWay: 'Anders weitermachen',
  postureTitle: 'Ihr Gerät wird geprüft',
  posture: (device: string) => `${device === '' ? 'Ihr Gerät' : device} wird geprüft …`,
  blockedTitle: 'Vorerst gesperrt',
  blocked: (count: number) =>
    count <= 1
      ? 'Sie können sich anmelden, sobald eine Sache behoben ist.'
      : `Sie können sich anmelden, sobald ${count} Dinge behoben sind.`,
  blockedMore: 'Beheben Sie, was unten sperrt. Diese Seite merkt es und macht von selbst weiter.',
  warnedTitle: 'Sie können weitermachen',
  warned: 'Sie können weitermachen.',
  warnedMore: 'Zu Ihrem Gerät gibt es etwas, das Sie wissen sollten.',
  fixBefore: 'Beheben Sie, was unten steht, bis',
  orBlocked: (device: string) => `. Danach wird ${device} gesperrt.`,
  thisDevice: 'dieses Gerät',
  continueNow: 'Weiter',
  otherWays: 'Andere Wege',
  otherDeviceTitle: 'Ein anderes Gerät benutzen',
  otherDevice: 'Beginnen Sie die Anmeldung neu auf einem Gerät, das in Ordnung ist.',
  contactTitle: 'Um Hilfe bitten',
  contact: (id: string) => `Nennen Sie Ihrer IT diese Nummer: ${id}`,
  doneTitle: 'Angemeldet',
  done: (name: string) => `Alles ist in Ordnung. Es geht weiter zu ${name}.`,
  yourPages: 'Ihren Geräten',
  goesOn: (seconds: number) => `In ${seconds} Sekunden geht es von selbst weiter.`,
  goTo: (name: string) => `Zu ${name}`,
  stayHere: 'Hier bleiben',
  refusedTitle: 'Nicht angemeldet',
  refused: 'Sie wurden nicht angemeldet.',
  refusedDevice: (device: string) => `Das Gerät war ${device}.`,
  beginAgain: 'Um es noch einmal zu versuchen, beginnen Sie dort, wo Sie herkamen.',
  backToApplication: 'Zurück, wo ich herkam',
  forAdmins: (code: string, id: string) => `Für Admins: ${code}, Anmeldung ${id}`,
  abandonedTitle: 'Beendet',
  abandoned: 'Diese Anmeldung hat zu lange gedauert und ist beendet.',
  cancel: 'Diese Anmeldung abbrechen',
  seen: 'gesehen',
  howKnown: {
    live: 'Dieser Browser läuft darauf: Es hält die Verbindungen dieser Seite',
    hardware: 'Erkannt an einem Schlüssel in seiner Hardware',
    approved: 'Erkannt durch eine Bestätigung',
    key: 'Erkannt am Schlüssel dieses Browsers',
    none: 'Nicht erkannt',
  },
  notMyDevice: 'Das ist nicht mein Gerät',
  refusals: {
    person_unknown: 'Unter dieser Adresse ist hier niemand bekannt.',
    person_ended: 'Ihr Konto wurde abgeschaltet.',
    account_changed:
      'Sie haben bei Ihrem Identitätsanbieter ein anderes Konto als bei der ersten Anmeldung. Sagen Sie es Ihrer IT-Abteilung.',
    person_missing: 'Die Anwendung sagt nicht, wer sich anmeldet. Sagen Sie es Ihrer IT.',
    upstream_unreachable: 'Ihr Identitätsanbieter ist gerade nicht erreichbar.',
    upstream_refused:
      'Ihr Identitätsanbieter hat Sie nicht eingelassen, oder Sie haben dort abgebrochen.',
    upstream_person_mismatch:
      'Bei Ihrem Identitätsanbieter sind Sie jemand anders, als die Anwendung sagt. Melden Sie sich dort ab und beginnen Sie neu.',
    device_unknown:
      'Es ließ sich nicht zeigen, dass Sie an einem Gerät sitzen, das diese Organisation kennt. Nehmen Sie ein Gerät von der Arbeit.',
    device_unreachable:
      'Ihr Gerät antwortet nicht. Sehen Sie nach, ob es online ist, und beginnen Sie neu.',
    proof_unavailable:
      'Die Verbindung, die zeigt, an welchem Gerät Sie sitzen, ließ sich nicht öffnen.',
    relayed:
      'Jemand anders hat Verbindungen geöffnet, die zu Ihrer Anmeldung gehören. Zu Ihrem Schutz wurde sie beendet. Wenn Sie über einen Link in einer Nachricht hierher kamen, melden Sie das.',
    device_of_another_person: 'Dieses Gerät gehört jemand anderem.',
    device_reassigned:
      'Dieses Gerät war auf Sie registriert. Jetzt ist es auf jemand anderen registriert. Fragen Sie Ihre IT, wenn das falsch ist.',
    other_os_user: 'Sie sind auf diesem Gerät als jemand anders angemeldet als der, dem es gehört.',
    registration_ended:
      'Die Registrierung dieses Geräts auf Sie ist beendet. Beginnen Sie neu, um es wieder zu registrieren.',
    registration_refused:
      'Neue Geräte lassen sich nicht beim Anmelden registrieren. Fragen Sie Ihre IT.',
    registration_denied: 'Die Registrierung dieses Geräts wurde abgelehnt.',
    assurance_too_low: 'Diese Anwendung verlangt einen stärkeren Nachweis Ihres Geräts.',
    request_unmet:
      'Diese Anwendung verlangt eine andere Person oder einen stärkeren Nachweis Ihres Geräts.',
    fallback_denied: 'Ihre Anfrage wurde abgelehnt.',
    device_blocked: 'Ihr Gerät ist gesperrt, bis seine Probleme behoben sind.',
    not_my_device: 'Sie sagten, dass dies nicht Ihr Gerät ist; darum wurde die Anmeldung beendet.',
    cancelled: 'Sie haben die Anmeldung abgebrochen.',
    application_disabled: 'Diese Anwendung ist hier abgeschaltet.',
  },
}

/** What is said to whoever has a new device, or one that could not be recognised. */
export const ladder = {
  registrationTitle: 'Ein neues Gerät',
  register: (device: string) => `Gehört ${device} Ihnen?`,
  registerMore:
    'Es ist zum ersten Mal hier. Auf Sie registriert, können Sie sich damit anmelden, und seine Prüfungen werden Ihnen gezeigt.',
  registerAgain: 'Ihre Registrierung dieses Geräts ist beendet',
  registerAgainMore: 'Sie können sich damit anmelden, sobald es wieder auf Sie registriert ist.',
  message: 'Eine Nachricht an den, der entscheidet',
  messageHint: 'Sie wird gelesen, falls ein Admin entscheiden muss.',
  registerNow: 'Ja, auf mich registrieren',
  fallbackTitle: 'Ein anderer Weg',
  fallback: 'Ihr Gerät ließ sich nicht erkennen.',
  fallbackMore: 'Es gibt andere Wege, zu zeigen, dass Sie es sind.',
  waiting: 'Eine Bestätigung steht noch aus …',
  waitingMore: 'Lassen Sie diese Seite offen: Sie macht von selbst weiter.',
  openOther:
    'Öffnen Sie „Meine Geräte“ auf einem Gerät, das auf Sie registriert ist, und bestätigen Sie dort.',
  adminDecides: 'Ein Admin wurde um Zustimmung gebeten.',
  compare: 'Geben Sie dort diese Zahl ein:',
  certificateMissing:
    'Ihr Browser hat kein Zertifikat gezeigt. Schließen Sie alle seine Fenster, beginnen Sie von vorn, und wählen Sie das Zertifikat, wenn er danach fragt.',
  certificateUnknown:
    'Keines Ihrer Geräte sagt, dass das Zertifikat seines ist. Prüfen Sie, ob es online ist, oder wählen Sie einen anderen Weg.',
  ways: {
    registered_device: {
      title: 'Von einem anderen Ihrer Geräte bestätigen',
      more: 'Auf einem Gerät, das auf Sie registriert und in Ordnung ist.',
      action: 'Ein anderes Gerät benutzen',
    },
    certificate: {
      title: 'Das Zertifikat dieses Geräts benutzen',
      more: 'Ihr Browser fragt, welches Zertifikat er zeigen soll.',
      action: 'Ein Zertifikat benutzen',
    },
    admin_approval: {
      title: 'Einen Admin fragen',
      more: 'Jemand aus Ihrer IT sieht es sich an und entscheidet.',
      action: 'Um Zustimmung bitten',
    },
    browser_key: {
      title: 'Den Schlüssel dieses Browsers benutzen',
      more: 'Er wurde an Ihr Gerät gebunden, als Sie sich zuletzt hier anmeldeten. Nicht jede Anwendung nimmt ihn.',
      action: 'Diesen Browser benutzen',
    },
  },
}

/** What the OpenID provider says by itself. */
export const provider = {
  signOut: 'Abmelden',
  signOutQuestion: 'Möchten Sie sich abmelden?',
  signOutMore: 'Was der Anwendung gewährt wurde, von der Sie kommen, endet sofort.',
  signOutOfAllMore: 'Was Anwendungen in diesem Browser gewährt wurde, endet sofort.',
  signOutOf: (site: string) => `Möchten Sie sich von ${site} abmelden?`,
  signOutOfMore:
    'In diesem Browser ist die Seite dann für Sie geschlossen, bis Sie sich wieder anmelden.',
  staySignedIn: 'Angemeldet bleiben',
  signedOut: 'Sie sind abgemeldet.',
  signedOutMore: 'Sie können diese Seite schließen.',
  fault: 'Diese Anmeldung kann nicht weitergehen.',
  signOutFault: 'Sie wurden nicht abgemeldet.',
}
