--------------------------- MODULE DeliveryClaims ---------------------------
(***************************************************************************)
(* How the workers of one destination claim, order, send and record its    *)
(* deliveries: packages/server/src/signals/dispatch, and the numbers of    *)
(* history/number-sets.ts. README.md says what is left out and which line  *)
(* of the code each guard stands for. A constant per guard takes it out.   *)
(***************************************************************************)
EXTENDS Naturals, FiniteSets, Sequences

CONSTANTS
  Workers,      \* processes with the role worker
  Events,       \* deliveries by the ids of their rows: 1, 2, 3 ...
  SubjectOf,    \* of each event; one that has a subject of its own has no order with others
  Rejected,     \* events that the receiver refuses for good, whenever they come
  Outlives,     \* events that are delivered although their destination is stopped
  Early,        \* events that are queued from the beginning; the others come at any time
  Reserved,     \* events that the process which queues them sends at once
  AttemptsMax,  \* attempts until an event is dead
  ClaimsMax,    \* claims that a worker has under way at once
  FaultsMax,    \* crashes, lost answers of the database, leases that end too early, outcomes that are given up
  RedrivesMax,  \* what people send again
  DiscardsMax,  \* what people give up
  StopsMax,     \* how often the destination is stopped or started
  EndsMax,      \* workers that come to an end in good order
  RotationsMax, \* how often the signing key changes
  IsNumbered,   \* whether the stream numbers its events
  Stalls,       \* whether a worker may stand still while a request is under way, longer than its lease
  Off           \* the guards that are taken out, by name

On(guard) == guard \notin Off

None == "none"
Nobody == <<"nobody", 0>>

VARIABLES
  st,        \* state of each row, None before it is queued
  att,       \* attempts that are recorded
  claim,     \* claimed_by of each row
  over,      \* claims whose lease has ended
  kid,       \* signing_kid of each row, 0 without one
  seq,       \* sequence of each row, 0 without one
  lastSeq,   \* last_sequence of the stream
  isActive,  \* whether the destination is active
  pend,      \* of each worker: claims that are answered or being prepared, oldest first
  part,      \* of each worker and subject: the partition, whose head may be sent
  infl,      \* of each worker: the subjects whose head is in flight
  rec,       \* of each worker: outcomes that wait to be recorded
  rel,       \* of each worker: deliveries that are being given back
  looked,    \* of each worker: what it read and has not yet acted on (only where a lock is taken out)
  activeKid, \* the key that signs what is claimed now
  taken,     \* events that the receiver has taken at least once
  shown,     \* the bytes under which it took each event first
  excused,   \* events that were dead or discarded once: others may have passed them
  abandoned, \* events that people gave up while a worker held them
  ended,     \* workers whose end has begun
  wrong,     \* names of what must never happen
  faults, redrives, discards, stops

vars == <<st, att, claim, over, kid, seq, lastSeq, isActive, pend, part, infl, rec, rel, looked,
  activeKid, taken, shown, excused, abandoned, ended, wrong, faults, redrives, discards, stops>>

database == <<st, att, claim, kid, seq, lastSeq, isActive>>
memory == <<pend, part, infl, rec, rel, looked>>
receiver == <<taken, shown>>
people == <<excused, abandoned, redrives, discards, stops, ended, activeKid>>

Subjects == {SubjectOf[e] : e \in Events}
Earlier(e) == {d \in Events : d < e /\ SubjectOf[d] = SubjectOf[e]}
Min(S) == CHOOSE x \in S : \A y \in S : x <= y
SetOf(s) == {s[i] : i \in 1..Len(s)}
MinOf(a, b) == IF a < b THEN a ELSE b

-----------------------------------------------------------------------------
(* Claims. An id tells whose it is and is used again once nothing refers to it. *)

Api == <<"api", 1>>
\* Held: claims of which the worker has something in memory (active-claims.ts).
PendClaims(w) == {p.c : p \in SetOf(pend[w])}
PartItems(w) == UNION {SetOf(part[w][s]) : s \in Subjects}
Held(w) == PendClaims(w) \cup {i.c : i \in PartItems(w)} \cup {o.c : o \in rec[w]} \cup {r.c : r \in rel[w]}
InDatabase == {claim[e] : e \in {d \in Events : st[d] = "queued"}} \ {Nobody}
Refs == InDatabase \cup UNION {Held(w) : w \in Workers}
IdsOf(w) == {<<w, n>> : n \in 1..(ClaimsMax + 2)}
FreeIds(w) == IdsOf(w) \ Refs
Tidy == over' = IF over = {} THEN {} ELSE over \cap Refs'

\* The claims under which a worker may continue a subject.
Own(w) == IF On("OwnIsAnswered") THEN Held(w) ELSE Held(w) \cup (InDatabase \cap IdsOf(w))

\* What is being released, or waits to be tried again, blocks its subject (subject-partitions.ts).
Blocked(w) ==
  {SubjectOf[o.e] : o \in {x \in rec[w] : x.res = "queued" /\ x.blocks}}
  \cup {SubjectOf[r.e] : r \in {x \in rel[w] : x.why # "given up" \/ On("BlockGivenUp")}}

Taint(w, subjects) ==
  IF On("BlockPastClaims")
  THEN [i \in 1..Len(pend[w]) |-> [pend[w][i] EXCEPT !.tainted = @ \cup subjects]]
  ELSE pend[w]

-----------------------------------------------------------------------------
(* What reaches the receiver. *)

BytesOf(item) == <<item.kid, item.seq>>

Wrongs(items) ==
  (IF \E i \in items : i.e \notin taken
        /\ \E d \in Earlier(i.e) : st[d] # None /\ d \notin taken /\ d \notin excused
   THEN {"disorder"} ELSE {})
  \cup (IF \E i \in items : i.e \in taken /\ shown[i.e] # BytesOf(i) THEN {"other bytes"} ELSE {})

Take(items) ==
  /\ taken' = taken \cup {i.e : i \in items}
  /\ shown' = [e \in Events |->
      IF e \notin taken /\ \E i \in items : i.e = e
      THEN BytesOf(CHOOSE i \in items : i.e = e) ELSE shown[e]]
  /\ wrong' = wrong \cup Wrongs(items)

TakeNothing == UNCHANGED <<taken, shown, wrong>>

-----------------------------------------------------------------------------
Init ==
  /\ st = [e \in Events |-> IF e \in Early THEN "queued" ELSE None]
  /\ att = [e \in Events |-> 0]
  /\ claim = [e \in Events |-> IF e \in Early \cap Reserved THEN Api ELSE Nobody]
  /\ over = {}
  /\ kid = [e \in Events |-> 0]
  /\ seq = [e \in Events |-> 0]
  /\ lastSeq = 0
  /\ isActive = TRUE
  /\ pend = [w \in Workers |-> <<>>]
  /\ part = [w \in Workers |-> [s \in Subjects |-> <<>>]]
  /\ infl = [w \in Workers |-> {}]
  /\ rec = [w \in Workers |-> {}]
  /\ rel = [w \in Workers |-> {}]
  /\ looked = [w \in Workers |-> <<>>]
  /\ activeKid = 1
  /\ taken = {}
  /\ shown = [e \in Events |-> <<0, 0>>]
  /\ excused = {}
  /\ abandoned = {}
  /\ ended = {}
  /\ wrong = {}
  /\ faults = FaultsMax
  /\ redrives = RedrivesMax
  /\ discards = DiscardsMax
  /\ stops = StopsMax

(* A change commits that queues a delivery. Those of one subject commit in order: its record is locked. *)
Queue(e) ==
  /\ st[e] = None
  /\ On("SubjectLock") => \A d \in Earlier(e) : st[d] # None
  /\ st' = [st EXCEPT ![e] = "queued"]
  /\ claim' = [claim EXCEPT ![e] = IF e \in Reserved THEN Api ELSE Nobody]
  /\ UNCHANGED <<att, kid, seq, lastSeq, isActive, over, memory, receiver, people, wrong, faults>>

(* delivery-sender.ts: one attempt, whose outcome counts while the claim holds. *)
SendNow(e) ==
  /\ st[e] = "queued" /\ claim[e] = Api /\ Api \notin over
  /\ \/ /\ e \notin Rejected
        /\ st' = [st EXCEPT ![e] = "delivered"]
        /\ Take({[e |-> e, c |-> Api, kid |-> kid[e], seq |-> seq[e]]})
        /\ UNCHANGED excused
     \/ /\ st' = [st EXCEPT ![e] = "discarded"]
        /\ excused' = excused \cup {e}
        /\ TakeNothing
  /\ claim' = [claim EXCEPT ![e] = Nobody]
  /\ UNCHANGED <<att, kid, seq, lastSeq, isActive, memory, abandoned, redrives, discards, stops, ended, activeKid, faults>>
  /\ Tidy

-----------------------------------------------------------------------------
(* claim-store.ts, claimDeliveries *)

\* What a worker that goes on with the claims `own` may take; which of it is due is left open.
Candidates(own) ==
  {e \in Events :
    /\ st[e] = "queued"
    /\ \/ claim[e] = Nobody
       \/ On("Takeover") /\ claim[e] \in over
       \/ ~On("LiveLeaseKept")
    /\ On("OwnNotReclaimed") => claim[e] \notin own
    /\ isActive \/ (On("OutlivesStop") /\ e \in Outlives)}

\* What it may take at once: every earlier queued delivery of a subject is claimed with it or continued.
Choices(w) ==
  LET own == Own(w)
      candidates == Candidates(own)
      continues(d) == claim[d] \in own /\ (claim[d] \notin over \/ ~On("ContinueOnlyLive"))
  IN {chosen \in SUBSET candidates \ {{}} :
      \A e \in chosen : \A d \in Earlier(e) : st[d] = "queued" =>
        \/ d \in chosen
        \/ continues(d)
        \/ ~On("Obstacle")
        \/ ~On("DueInOrder") /\ d \in candidates}

WriteClaim(w, chosen) ==
  LET c == CHOOSE id \in FreeIds(w) : \A other \in FreeIds(w) : id[2] <= other[2]
      bound(e) == IF kid[e] # 0 THEN kid[e] ELSE activeKid
  IN /\ FreeIds(w) # {}
     /\ claim' = [e \in Events |-> IF e \in chosen THEN c ELSE claim[e]]
     /\ kid' = [e \in Events |-> IF e \in chosen /\ On("BindKid") THEN bound(e) ELSE kid[e]]
     /\ pend' = [pend EXCEPT ![w] = Append(@,
          [c |-> c, items |-> {[e |-> e, kid |-> bound(e)] : e \in chosen}, tainted |-> {}])]

\* A worker whose end has begun claims nothing, and gives back what it has.
TakesNothing(w) == w \in ended /\ On("EndTakesNothing")

\* What was refused for the sake of order is given back before anything else is claimed: a claim beside that would be
\* refused again, and so on.
IsRefusing(w) == On("AwaitRefused") /\ \E r \in rel[w] : r.why = "refused"

Claim(w) ==
  /\ Len(pend[w]) < ClaimsMax /\ ~IsRefusing(w) /\ ~TakesNothing(w)
  /\ On("ClaimLocks")
  /\ \E chosen \in Choices(w) : WriteClaim(w, chosen)
  /\ UNCHANGED <<st, att, seq, lastSeq, isActive, part, infl, rec, rel, looked, receiver, people, wrong, faults>>
  /\ Tidy

\* Without the lock of the rows, what was read is written without a second look.
LookForClaim(w) ==
  /\ ~On("ClaimLocks") /\ looked[w] = <<>> /\ Len(pend[w]) < ClaimsMax
  /\ \E chosen \in Choices(w) : looked' = [looked EXCEPT ![w] = <<"claim", chosen>>]
  /\ UNCHANGED <<database, over, pend, part, infl, rec, rel, receiver, people, wrong, faults>>

ClaimUnlocked(w) ==
  /\ looked[w] # <<>> /\ looked[w][1] = "claim"
  /\ WriteClaim(w, looked[w][2])
  /\ looked' = [looked EXCEPT ![w] = <<>>]
  /\ UNCHANGED <<st, att, seq, lastSeq, isActive, part, infl, rec, rel, receiver, people, wrong, faults>>
  /\ Tidy

\* doubtful-claims.ts: the statement took effect and its answer never came.
LoseAnswer(w) ==
  /\ faults > 0 /\ pend[w] # <<>>
  /\ faults' = faults - 1
  /\ pend' = [pend EXCEPT ![w] = SubSeq(@, 1, Len(@) - 1)]
  /\ UNCHANGED <<database, part, infl, rec, rel, looked, receiver, people, wrong>>
  /\ Tidy

-----------------------------------------------------------------------------
(* number-sets.ts: numbers for all that waits, before the oldest claim is signed. *)

Unnumbered == {e \in Events : st[e] = "queued" /\ (seq[e] = 0 \/ ~On("NumberOnce"))}
NeedsNumber(w) ==
  /\ IsNumbered /\ pend[w] # <<>>
  /\ \E i \in Head(pend[w]).items : st[i.e] = "queued" /\ seq[i.e] = 0

GiveNumbers(from) ==
  LET place(e) == Cardinality({d \in Unnumbered : d <= e})
  IN /\ seq' = [e \in Events |-> IF e \in Unnumbered THEN from + place(e) ELSE seq[e]]
     /\ lastSeq' = lastSeq + Cardinality(Unnumbered)

Number(w) ==
  /\ On("SequenceLock") /\ NeedsNumber(w)
  /\ GiveNumbers(lastSeq)
  /\ UNCHANGED <<st, att, claim, kid, isActive, over, memory, receiver, people, wrong, faults>>

LookForNumber(w) ==
  /\ ~On("SequenceLock") /\ NeedsNumber(w) /\ looked[w] = <<>>
  /\ looked' = [looked EXCEPT ![w] = <<"number", lastSeq>>]
  /\ UNCHANGED <<database, over, pend, part, infl, rec, rel, receiver, people, wrong, faults>>

NumberUnlocked(w) ==
  /\ looked[w] # <<>> /\ looked[w][1] = "number"
  /\ GiveNumbers(looked[w][2])
  /\ looked' = [looked EXCEPT ![w] = <<>>]
  /\ UNCHANGED <<st, att, claim, kid, isActive, over, pend, part, infl, rec, rel, receiver, people, wrong, faults>>

-----------------------------------------------------------------------------
(* destination-dispatcher.ts, #order: a prepared claim is put into the partitions, or refused and given back. *)

Order(w) ==
  /\ pend[w] # <<>> /\ ~NeedsNumber(w) /\ looked[w] = <<>>
  /\ LET p == Head(pend[w])
         refuses(s) == \/ TakesNothing(w)
                       \/ On("Block") /\ s \in Blocked(w)
                       \/ On("Block") /\ s \in p.tainted
         ready(s) == {i \in p.items : SubjectOf[i.e] = s /\ ~refuses(s)}
         signed(i) == [e |-> i.e, c |-> p.c, kid |-> i.kid, seq |-> seq[i.e]]
         InOrder(items) == [n \in 1..Cardinality(items) |->
           CHOOSE i \in items : Cardinality({j \in items : j.e <= i.e}) = n]
     IN \/ /\ part' = [part EXCEPT ![w] = [s \in Subjects |->
                part[w][s] \o InOrder({signed(i) : i \in ready(s)})]]
           /\ rel' = [rel EXCEPT ![w] = @ \cup
                {[e |-> i.e, c |-> p.c, why |-> "refused"] : i \in {j \in p.items : refuses(SubjectOf[j.e])}}]
           /\ UNCHANGED faults
        \* Preparing fails: all of it is given back.
        \/ /\ faults > 0 /\ faults' = faults - 1
           /\ rel' = [rel EXCEPT ![w] = @ \cup {[e |-> i.e, c |-> p.c, why |-> "refused"] : i \in p.items}]
           /\ UNCHANGED part
  /\ pend' = [pend EXCEPT ![w] = Tail(@)]
  /\ UNCHANGED <<database, over, infl, rec, looked, receiver, people, wrong>>

\* attempt-delivery.ts: begins while the lease lasts for longer than a request, else gives all of it back.
Begin(w, s) ==
  /\ part[w][s] # <<>> /\ s \notin infl[w]
  /\ IF Head(part[w][s]).c \notin over \/ ~On("LeaseMargin")
     THEN /\ infl' = [infl EXCEPT ![w] = @ \cup {s}]
          /\ wrong' = IF \E r \in rel[w] : r.why = "given up" /\ r.e \in Earlier(Head(part[w][s]).e)
                      THEN wrong \cup {"overtaken"} ELSE wrong
          /\ UNCHANGED <<part, rel>>
     ELSE /\ rel' = [rel EXCEPT ![w] = @ \cup {[e |-> i.e, c |-> i.c, why |-> "dropped"] : i \in SetOf(part[w][s])}]
          /\ part' = [part EXCEPT ![w][s] = <<>>]
          /\ UNCHANGED <<infl, wrong>>
  /\ UNCHANGED <<database, over, pend, rec, looked, receiver, people, faults>>

Without(sequence, n) == SubSeq(sequence, 1, n - 1) \o SubSeq(sequence, n + 1, Len(sequence))

\* The delivery has reached its end in memory: the next one of its subject may be sent.
EndAt(w, s, n, res) ==
  /\ rec' = [rec EXCEPT ![w] = @ \cup {[e |-> part[w][s][n].e, c |-> part[w][s][n].c, res |-> res, blocks |-> TRUE]}]
  /\ part' = [part EXCEPT ![w][s] = Without(@, n)]
  /\ excused' = IF res = "dead" THEN excused \cup {part[w][s][n].e} ELSE excused
  /\ UNCHANGED rel

\* It is to be tried again: those behind it are given back.
RetryAt(w, s, n) ==
  LET item == part[w][s][n]
      behind == SetOf(Without(part[w][s], n))
  IN IF att[item.e] + 1 >= AttemptsMax THEN EndAt(w, s, n, "dead")
     ELSE /\ rec' = [rec EXCEPT ![w] = @ \cup {[e |-> item.e, c |-> item.c, res |-> "queued", blocks |-> TRUE]}]
          /\ UNCHANGED excused
          /\ IF On("DropFollowers")
             THEN /\ part' = [part EXCEPT ![w][s] = <<>>]
                  /\ rel' = [rel EXCEPT ![w] = @ \cup {[e |-> i.e, c |-> i.c, why |-> "dropped"] : i \in behind}]
             ELSE /\ part' = [part EXCEPT ![w][s] = Without(@, n)]
                  /\ UNCHANGED rel

Answer(w, s) ==
  /\ s \in infl[w]
  /\ \E n \in (IF On("OneAtATime") THEN {1} ELSE 1..Len(part[w][s])) :
      LET item == part[w][s][n]
      IN \/ item.e \notin Rejected /\ Take({item}) /\ EndAt(w, s, n, "delivered")
         \* Taken, but its answer is lost.
         \/ item.e \notin Rejected /\ Take({item}) /\ RetryAt(w, s, n)
         \/ item.e \notin Rejected /\ TakeNothing
              /\ IF On("OnlyAnswersDeliver") THEN RetryAt(w, s, n) ELSE EndAt(w, s, n, "delivered")
         \/ item.e \in Rejected /\ TakeNothing /\ EndAt(w, s, n, "dead")
  /\ infl' = [infl EXCEPT ![w] = @ \ {s}]
  /\ UNCHANGED <<database, over, pend, looked, abandoned, redrives, discards, stops, ended, activeKid, faults>>

(* outcome-recorder.ts, outcomes-aside.ts and outcome-store.ts: what waits is written together or in parts, in any order,  *)
(* as where somebody has locked some of it. Writing several is writing each of them, with nothing in between.              *)
Record(w) ==
  \E o \in rec[w] :
    LET isHolder == st[o.e] = "queued" /\ claim[o.e] = o.c
        counts == isHolder \/ ~On("OutcomeOfHolder")
        left == rec[w] \ {o}
    IN /\ rec' = [rec EXCEPT ![w] = IF On("BlockAside") THEN left ELSE {[x EXCEPT !.blocks = FALSE] : x \in left}]
       /\ pend' = [pend EXCEPT ![w] = Taint(w, IF o.res = "queued" THEN {SubjectOf[o.e]} ELSE {})]
       /\ st' = IF counts THEN [st EXCEPT ![o.e] = o.res] ELSE st
       /\ att' = IF counts THEN [att EXCEPT ![o.e] = MinOf(AttemptsMax, @ + 1)] ELSE att
       /\ claim' = IF counts THEN [claim EXCEPT ![o.e] = Nobody] ELSE claim
       /\ wrong' = IF counts /\ ~isHolder THEN wrong \cup {"stray outcome"} ELSE wrong
       /\ UNCHANGED <<kid, seq, lastSeq, isActive, part, infl, rel, looked, receiver, people, faults>>
       /\ Tidy

\* The database takes nothing of an outcome: the delivery is given back, with what of its subject is not in flight. Its
\* attempt counts where the database takes that.
GiveUp(w) ==
  /\ faults > 0 /\ faults' = faults - 1
  /\ \E o \in rec[w] :
      LET s == SubjectOf[o.e]
          kept == IF s \in infl[w] THEN 1 ELSE 0
          behind == IF On("DropBehindGivenUp")
            THEN SetOf(SubSeq(part[w][s], kept + 1, Len(part[w][s]))) ELSE {}
          isHolder == st[o.e] = "queued" /\ claim[o.e] = o.c
      IN /\ rec' = [rec EXCEPT ![w] = @ \ {o}]
         /\ part' = [part EXCEPT ![w][s] = SelectSeq(@, LAMBDA i : i \notin behind)]
         /\ rel' = [rel EXCEPT ![w] = @ \cup {[e |-> o.e, c |-> o.c, why |-> "given up"]}
              \cup {[e |-> i.e, c |-> i.c, why |-> "dropped"] : i \in behind}]
         /\ \/ UNCHANGED att
            \/ isHolder /\ att' = [att EXCEPT ![o.e] = MinOf(AttemptsMax, @ + 1)]
  /\ UNCHANGED <<st, claim, kid, seq, lastSeq, isActive, over, pend, infl, looked, receiver, people, wrong>>

\* An end leaves an outcome that somebody has locked, or that the database does not take in time, to its lease.
Leave(w) ==
  /\ w \in ended
  /\ \E o \in rec[w] : rec' = [rec EXCEPT ![w] = @ \ {o}]
  /\ UNCHANGED <<database, pend, part, infl, rel, looked, receiver, people, wrong, faults>>
  /\ Tidy

(* release-store.ts, releaseClaims: what of one subject is given back. *)
Release(w) ==
  /\ \E s \in {SubjectOf[r.e] : r \in rel[w]} :
      LET given == {r \in rel[w] : SubjectOf[r.e] = s}
          frees(e) == \E r \in given : r.e = e /\ (claim[e] = r.c \/ ~On("ReleaseOwnOnly"))
      IN /\ rel' = [rel EXCEPT ![w] = @ \ given]
         /\ pend' = [pend EXCEPT ![w] = Taint(w, {s})]
         /\ claim' = [e \in Events |-> IF frees(e) THEN Nobody ELSE claim[e]]
  /\ UNCHANGED <<st, att, kid, seq, lastSeq, isActive, part, infl, rec, looked, receiver, people, wrong, faults>>
  /\ Tidy

-----------------------------------------------------------------------------
(* Faults *)

\* The process dies, and another one starts in its place. What was in flight may have arrived.
Crash(w) ==
  /\ faults > 0 /\ faults' = faults - 1
  /\ Held(w) # {} \/ looked[w] # <<>>
  /\ \E arrived \in SUBSET infl[w] :
      LET items == {i \in {Head(part[w][s]) : s \in arrived} : i.e \notin Rejected}
      IN Take(items)
  /\ pend' = [pend EXCEPT ![w] = <<>>]
  /\ part' = [part EXCEPT ![w] = [s \in Subjects |-> <<>>]]
  /\ infl' = [infl EXCEPT ![w] = {}]
  /\ rec' = [rec EXCEPT ![w] = {}]
  /\ rel' = [rel EXCEPT ![w] = {}]
  /\ looked' = [looked EXCEPT ![w] = <<>>]
  /\ UNCHANGED <<database, people>>
  /\ Tidy

Orphans == InDatabase \ UNION {Held(w) : w \in Workers}
InFlightUnder(c) == \E w \in Workers : \E s \in infl[w] : Head(part[w][s]).c = c

\* A lease ends: of a claim that nobody holds any more in any case, of a slow worker as a fault.
EndLease(c) ==
  /\ c \in InDatabase \ over
  /\ IF c \in Orphans THEN UNCHANGED faults ELSE faults > 0 /\ faults' = faults - 1
  /\ Stalls \/ ~InFlightUnder(c) \/ ~On("LeaseMargin")
  /\ over' = over \cup {c}
  /\ UNCHANGED <<database, memory, receiver, people, wrong>>

\* worker-presence.ts and doubtful-claims.ts: what a dead worker or an unanswered statement had claimed is
\* released. A worker that lives and cannot be seen is taken for dead as well.
Free(c) ==
  /\ On("Presence")
  /\ c \in InDatabase \ {Api}
  /\ IF c \in Orphans THEN UNCHANGED faults
     ELSE /\ Stalls \/ ~On("OnlyTheDead")
          /\ faults > 0 /\ faults' = faults - 1
  /\ claim' = [e \in Events |-> IF st[e] = "queued" /\ claim[e] = c THEN Nobody ELSE claim[e]]
  /\ UNCHANGED <<st, att, kid, seq, lastSeq, isActive, memory, receiver, people, wrong>>
  /\ Tidy

-----------------------------------------------------------------------------
(* People: redrive-deliveries.ts, and the destination that is stopped. *)

Redrive(e) ==
  /\ redrives > 0 /\ redrives' = redrives - 1
  /\ IF On("ResendLeavesWhatIsOnItsWay") THEN st[e] # "queued" \/ claim[e] = Nobody \/ claim[e] \in over ELSE TRUE
  /\ st[e] # None
  /\ st' = [st EXCEPT ![e] = "queued"]
  /\ att' = [att EXCEPT ![e] = IF st[e] = "queued" THEN @ ELSE 0]
  /\ claim' = [claim EXCEPT ![e] = Nobody]
  /\ UNCHANGED <<kid, seq, lastSeq, isActive, memory, receiver, excused, abandoned, discards, stops,
      ended, activeKid, wrong, faults>>
  /\ Tidy

Discard(e) ==
  /\ discards > 0 /\ discards' = discards - 1
  /\ st[e] \in {"queued", "dead"}
  /\ st' = [st EXCEPT ![e] = "discarded"]
  /\ excused' = excused \cup {e}
  /\ abandoned' = IF claim[e] = Nobody THEN abandoned ELSE abandoned \cup {e}
  /\ claim' = [claim EXCEPT ![e] = Nobody]
  /\ UNCHANGED <<att, kid, seq, lastSeq, isActive, memory, receiver, redrives, stops, ended, activeKid, wrong, faults>>
  /\ Tidy

Switch ==
  /\ stops > 0 /\ stops' = stops - 1
  /\ isActive' = ~isActive
  /\ UNCHANGED <<st, att, claim, over, kid, seq, lastSeq, memory, receiver, excused, abandoned, redrives,
      discards, ended, activeKid, wrong, faults>>

\* delivery-engine.ts, close: a worker comes to its end. What is in flight ends and is recorded, the rest given back.
End(w) ==
  /\ Cardinality(ended) < EndsMax /\ w \notin ended
  /\ ended' = ended \cup {w}
  /\ LET given(s) == SetOf(SubSeq(part[w][s], IF s \in infl[w] THEN 2 ELSE 1, Len(part[w][s])))
     IN /\ rel' = [rel EXCEPT ![w] = @ \cup UNION {{[e |-> i.e, c |-> i.c, why |-> "dropped"] : i \in given(s)} : s \in Subjects}]
        /\ part' = [part EXCEPT ![w] = [s \in Subjects |-> SelectSeq(@[s], LAMBDA i : i \notin given(s))]]
  /\ UNCHANGED <<database, over, pend, infl, rec, looked, receiver, excused, abandoned, redrives, discards, stops,
      activeKid, wrong, faults>>

\* The round that sees the stop gives back what is not in flight and does not outlive it.
SeeStop(w) ==
  /\ ~isActive
  /\ \E s \in Subjects :
      LET kept == IF s \in infl[w] THEN 1 ELSE 0
          given == {i \in SetOf(SubSeq(part[w][s], kept + 1, Len(part[w][s]))) : i.e \notin Outlives}
      IN /\ given # {}
         /\ rel' = [rel EXCEPT ![w] = @ \cup {[e |-> i.e, c |-> i.c, why |-> "dropped"] : i \in given}]
         /\ part' = [part EXCEPT ![w][s] = SelectSeq(@, LAMBDA i : i \notin given)]
  /\ UNCHANGED <<database, over, pend, infl, rec, looked, receiver, people, wrong, faults>>

Rotate ==
  /\ activeKid <= RotationsMax
  /\ activeKid' = activeKid + 1
  /\ UNCHANGED <<database, over, memory, receiver, excused, abandoned, redrives, discards, stops, ended, wrong, faults>>

-----------------------------------------------------------------------------
IsIdle == \A w \in Workers : Held(w) = {} /\ looked[w] = <<>>
IsFinished(e) == st[e] \in {"delivered", "dead", "discarded"}
IsDone ==
  /\ IsIdle
  /\ \A e \in Events : IsFinished(e) \/ (~isActive /\ e \notin Outlives /\ st[e] = "queued")

Rest == IsDone /\ UNCHANGED vars

Step(w) ==
  \/ Claim(w) \/ LookForClaim(w) \/ ClaimUnlocked(w)
  \/ Number(w) \/ LookForNumber(w) \/ NumberUnlocked(w)
  \/ Order(w) \/ Record(w) \/ Release(w) \/ SeeStop(w)
  \/ \E s \in Subjects : Begin(w, s) \/ Answer(w, s)

Next ==
  \/ \E e \in Events : Queue(e) \/ SendNow(e) \/ Redrive(e) \/ Discard(e)
  \/ \E w \in Workers : Step(w) \/ LoseAnswer(w) \/ GiveUp(w) \/ Crash(w) \/ End(w) \/ Leave(w)
  \/ \E c \in Refs : EndLease(c) \/ Free(c)
  \/ Switch \/ Rotate \/ Rest

Spec == Init /\ [][Next]_vars

AllIds == {Api} \cup UNION {IdsOf(w) : w \in Workers}

FairSpec ==
  /\ Spec
  /\ \A e \in Events : WF_vars(Queue(e))
  /\ \A w \in Workers :
      /\ WF_vars(Claim(w)) /\ WF_vars(Number(w)) /\ WF_vars(Order(w)) /\ WF_vars(Record(w))
      /\ WF_vars(Release(w)) /\ WF_vars(SeeStop(w))
      /\ \A s \in Subjects : WF_vars(Begin(w, s)) /\ WF_vars(Answer(w, s))
  /\ \A c \in AllIds : WF_vars(EndLease(c) /\ c \in Orphans)

-----------------------------------------------------------------------------
(* What is guaranteed. That nothing is lost is the check for deadlocks: where nothing is left to do, all is done. *)

\* A receiver gets the deliveries of a subject, each for the first time, in their order.
InOrderPerSubject == "disorder" \notin wrong
\* Nothing is sent past an earlier delivery of its subject whose outcome was given up, until that is given back.
GivenUpIsNotOvertaken == "overtaken" \notin wrong
\* An event has the same bytes whenever it is sent.
SameBytes == "other bytes" \notin wrong
\* An outcome moves only the row that its sender holds.
OutcomeOfPresentHolder == "stray outcome" \notin wrong
\* What is recorded as delivered has arrived.
DeliveredHasArrived == \A e \in Events : st[e] = "delivered" => e \in taken
\* The numbers of a stream: each once, none left out, along the ids.
Numbers == {seq[e] : e \in {d \in Events : seq[d] # 0}}
UniqueSequences == \A d, e \in Events : d # e /\ seq[d] # 0 => seq[d] # seq[e]
SequencesWithoutGap == Numbers = 1..lastSeq
SequencesInOrder == \A e \in Events : seq[e] # 0 => \A d \in Earlier(e) : seq[d] < seq[e]

\* Live claims on an event that workers would act on.
LiveClaims(e) ==
  {<<w, c>> \in Workers \X AllIds : c \notin over /\
    (\/ \E p \in SetOf(pend[w]) : p.c = c /\ \E i \in p.items : i.e = e
     \/ \E i \in PartItems(w) : i.e = e /\ i.c = c)}
AtMostOneLiveClaim == \A e \in Events : e \notin abandoned => Cardinality(LiveClaims(e)) <= 1
Senders(e) == {<<w, s>> \in Workers \X Subjects : s \in infl[w] /\ Head(part[w][s]).e = e}
AtMostOneSender == \A e \in Events : e \notin abandoned => Cardinality(Senders(e)) <= 1

EverythingEnds == <>[]IsDone
=============================================================================
