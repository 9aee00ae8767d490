import GRDB

/// What is on disk. One row of `ticket` for every ticket that is kept, small, because start-up reads all live ones;
/// its request and its response, which may be big, in tables of their own, read only when they are needed.
///
/// The CHECKs repeat the invariants of the states, so that no bug of Layover gets to the disk. Times are
/// nanoseconds since 1970. `lastFailure`, `attempts`, `lastCommand` and `settledBy` are in the form of `ByteWriter`, `parents`
/// are ids one after another. The fields and trailers of a request are the lines of its `RequestFields`, those of an answer end with CRLF.
/// Secret field values are not in them but in `sealed` (see `FieldSealing`).
enum StoreSchema {
    /// Marks the file as ours (`PRAGMA application_id`): "Layo".
    static let applicationID: Int32 = 0x4C61_796F

    static func migrator() -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { db in
            try db.execute(sql: "PRAGMA application_id = \(applicationID)")
            try db.execute(sql: tables)
            try db.execute(sql: indexes)
        }
        migrator.registerMigration("2") { db in
            try db.execute(sql: supersession)
        }
        migrator.registerMigration("3") { db in
            try db.execute(sql: identity)
        }
        migrator.registerMigration("4") { db in
            try db.execute(sql: measuredTime)
        }
        migrator.registerMigration("5") { db in
            try db.execute(
                sql: "CREATE INDEX childTicket ON ticket (parents) WHERE endedAt IS NULL AND parents IS NOT NULL")
        }
        migrator.registerMigration("6") { db in
            try db.execute(sql: decisions)
        }
        migrator.registerMigration("7") { db in
            try db.execute(sql: bytesInRows)
        }
        migrator.registerMigration("8") { db in
            try EmptyValues.renew(in: db)
        }
        migrator.registerMigration("9") { db in
            try db.execute(sql: "ALTER TABLE ticket ADD COLUMN lastCommand BLOB CHECK (length(lastCommand) > 0)")
        }
        migrator.registerMigration("10") { db in
            try db.execute(sql: settlement)
        }
        migrator.registerMigration("11") { db in
            try FoldedTexts.add(to: db)
        }
        migrator.registerMigration("12") { db in
            // `BaseURLForm`. Unknown for tickets of earlier versions: what their responses say stays as the origin said it.
            try db.execute(sql: "ALTER TABLE ticket ADD COLUMN baseURL INTEGER CHECK (baseURL IN (1, 2))")
        }
        return migrator
    }

    private static let tables = """
        CREATE TABLE ticket (
            sequence INTEGER PRIMARY KEY CHECK (sequence BETWEEN 1 AND 9007199254740992),
            id BLOB NOT NULL CHECK (length(id) = 16),
            revision INTEGER NOT NULL CHECK (revision BETWEEN 1 AND 9007199254740992),
            state TEXT NOT NULL CHECK (state IN ('waiting', 'attempting', 'held', 'undecided',
                'delivered', 'cancelled', 'expired', 'failed')),
            why TEXT CHECK (why IN ('maybeApplied', 'exhausted', 'credentialsExpired', 'rejected', 'parentFailed')),
            method TEXT NOT NULL,
            url TEXT NOT NULL,
            scheme TEXT NOT NULL CHECK (scheme IN ('http', 'https', 'tunnel')),
            host TEXT NOT NULL,
            port INTEGER NOT NULL,
            route TEXT,
            wishName TEXT,
            wishMode TEXT,
            policy TEXT NOT NULL,
            priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 7),
            lane TEXT,
            parents BLOB CHECK (length(parents) > 0 AND length(parents) % 16 = 0),
            clientAddress TEXT NOT NULL,
            clientConnected INTEGER NOT NULL CHECK (clientConnected IN (0, 1)),
            clientAgent TEXT,
            attemptCount INTEGER NOT NULL CHECK (attemptCount BETWEEN 0 AND 9007199254740992),
            automaticCount INTEGER NOT NULL CHECK (automaticCount BETWEEN 0 AND attemptCount),
            mayHaveBeenApplied INTEGER NOT NULL CHECK (mayHaveBeenApplied IN (0, 1)),
            isRepeatable INTEGER NOT NULL CHECK (isRepeatable IN (0, 1)),
            hasIdempotencyKey INTEGER NOT NULL CHECK (hasIdempotencyKey IN (0, 1)),
            isExposed INTEGER NOT NULL CHECK (isExposed IN (0, 1)),
            isHeldBack INTEGER NOT NULL CHECK (isHeldBack IN (0, 1)),
            requestByteCount INTEGER NOT NULL CHECK (requestByteCount BETWEEN 0 AND 9007199254740992),
            createdAt INTEGER NOT NULL,
            parkedAt INTEGER NOT NULL,
            dueAt INTEGER NOT NULL,
            expiresAt INTEGER NOT NULL,
            notAfter INTEGER,
            endedAt INTEGER,
            lastFailure BLOB,
            lastFailureAt INTEGER,
            attempts BLOB,
            status INTEGER CHECK (status BETWEEN 100 AND 999),
            preconditions TEXT,
            keyDigest BLOB CHECK (length(keyDigest) = 32),
            payloadDigest BLOB CHECK (length(payloadDigest) = 32),
            CONSTRAINT whyExactlyWhenUndecided CHECK ((why IS NOT NULL) = (state = 'undecided')),
            CONSTRAINT endedExactlyWhenFinal CHECK (
                (endedAt IS NOT NULL) = (state IN ('delivered', 'cancelled', 'expired', 'failed'))),
            CONSTRAINT statusOnlyWhenDelivered CHECK (status IS NULL OR state = 'delivered'),
            CONSTRAINT bothDigests CHECK ((keyDigest IS NULL) = (payloadDigest IS NULL))
        ) STRICT;

        CREATE TABLE request (
            sequence INTEGER PRIMARY KEY REFERENCES ticket ON DELETE CASCADE,
            scheme TEXT NOT NULL CHECK (scheme IN ('http', 'https', 'tunnel')),
            host TEXT NOT NULL,
            port INTEGER NOT NULL,
            method TEXT NOT NULL,
            target TEXT NOT NULL,
            hostField TEXT NOT NULL,
            fields BLOB NOT NULL,
            hasBody INTEGER NOT NULL CHECK (hasBody IN (0, 1)),
            body BLOB,
            bodyFile TEXT CHECK (length(bodyFile) > 0),
            bodyByteCount INTEGER NOT NULL CHECK (bodyByteCount >= 0),
            trailers BLOB,
            hasTokens INTEGER NOT NULL CHECK (hasTokens IN (0, 1)),
            keyNumber INTEGER,
            sealed BLOB,
            CONSTRAINT oneBody CHECK (body IS NULL OR bodyFile IS NULL),
            CONSTRAINT sealedWithKey CHECK ((sealed IS NULL) = (keyNumber IS NULL))
        ) STRICT;

        CREATE TABLE answer (
            sequence INTEGER PRIMARY KEY REFERENCES ticket ON DELETE CASCADE,
            status INTEGER NOT NULL CHECK (status BETWEEN 100 AND 999),
            fields BLOB NOT NULL,
            body BLOB,
            bodyFile TEXT CHECK (length(bodyFile) > 0),
            bodyByteCount INTEGER NOT NULL CHECK (bodyByteCount >= 0),
            isBodyLost INTEGER NOT NULL CHECK (isBodyLost IN (0, 1)),
            keyNumber INTEGER,
            sealed BLOB,
            CONSTRAINT oneBody CHECK (body IS NULL OR bodyFile IS NULL),
            CONSTRAINT sealedWithKey CHECK ((sealed IS NULL) = (keyNumber IS NULL))
        ) STRICT;

        -- The keys that rows may be sealed with, each with what tells it from another one.
        CREATE TABLE sealing (
            keyNumber INTEGER PRIMARY KEY,
            fingerprint BLOB NOT NULL CHECK (length(fingerprint) = 32)
        ) STRICT;

        -- One row: what is known of the store as a whole.
        CREATE TABLE facts (
            row INTEGER PRIMARY KEY CHECK (row = 1),
            lastSequence INTEGER NOT NULL CHECK (lastSequence >= 0),
            bootID TEXT,
            clockOffset INTEGER,
            settlings INTEGER NOT NULL
        ) STRICT;
        INSERT INTO facts VALUES (1, 0, NULL, NULL, 0);
        """

    /// The newer ticket that superseded this one. Tickets that ended before version 2 have none.
    private static let supersession = """
        ALTER TABLE ticket ADD COLUMN supersededBy BLOB
            CHECK (supersededBy IS NULL OR length(supersededBy) = 16 AND state = 'cancelled');
        """

    /// The identity of this store.
    private static let identity = """
        ALTER TABLE facts ADD COLUMN storeID BLOB CHECK (length(storeID) = 16);
        UPDATE facts SET storeID = randomblob(16);
        """

    /// The measured time (`TicketClock`), and when tickets ended in it.
    private static let measuredTime = """
        ALTER TABLE facts ADD COLUMN seenAt INTEGER;
        ALTER TABLE facts ADD COLUMN unmeasured INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE ticket ADD COLUMN endedMeasured INTEGER;
        UPDATE ticket SET endedMeasured = endedAt WHERE endedAt IS NOT NULL;
        DROP INDEX endedTicket;
        CREATE INDEX endedTicket ON ticket (endedMeasured) WHERE endedMeasured IS NOT NULL;
        """

    /// Decisions of people (`TicketDecisions`). They are unknown for tickets of earlier versions: these count as not forced, so
    /// a request that may have been applied is undecided again; and no policy changes their deadline and priority, as a person may
    /// have set them.
    private static let decisions = """
        ALTER TABLE ticket ADD COLUMN isForced INTEGER NOT NULL DEFAULT 0 CHECK (isForced IN (0, 1));
        ALTER TABLE ticket ADD COLUMN isAskedFor INTEGER NOT NULL DEFAULT 0 CHECK (isAskedFor IN (0, 1));
        ALTER TABLE ticket ADD COLUMN hasOwnDeadline INTEGER NOT NULL DEFAULT 0 CHECK (hasOwnDeadline IN (0, 1));
        ALTER TABLE ticket ADD COLUMN hasOwnPriority INTEGER NOT NULL DEFAULT 0 CHECK (hasOwnPriority IN (0, 1));
        ALTER TABLE ticket ADD COLUMN excusedParents BLOB
            CHECK (length(excusedParents) > 0 AND length(excusedParents) % 16 = 0);
        UPDATE ticket SET hasOwnDeadline = 1, hasOwnPriority = 1 WHERE endedAt IS NULL;
        """

    /// The person who settled a ticket. Tickets that ended before version 10 were settled by nobody.
    private static let settlement = """
        ALTER TABLE ticket ADD COLUMN settledBy BLOB
            CHECK (settledBy IS NULL OR length(settledBy) > 0 AND state = 'delivered');
        """

    /// The bytes of bodies that lie in rows, so that a start can add them up without reading the bodies.
    private static let bytesInRows = """
        CREATE INDEX requestBytes ON request (bodyByteCount) WHERE bodyFile IS NULL AND bodyByteCount > 0;
        CREATE INDEX answerBytes ON answer (bodyByteCount) WHERE bodyFile IS NULL AND bodyByteCount > 0;
        """

    private static let indexes = """
        CREATE UNIQUE INDEX ticketByID ON ticket (id);
        CREATE UNIQUE INDEX ticketByKey ON ticket (keyDigest) WHERE keyDigest IS NOT NULL;
        CREATE INDEX liveTicket ON ticket (sequence) WHERE endedAt IS NULL;
        CREATE INDEX endedTicket ON ticket (endedAt) WHERE endedAt IS NOT NULL;
        CREATE INDEX requestFile ON request (bodyFile) WHERE bodyFile IS NOT NULL;
        CREATE INDEX answerFile ON answer (bodyFile) WHERE bodyFile IS NOT NULL;
        """
}
