/// The tables of the index. There are no migrations: an index of another version is thrown away, since it holds
/// nothing that the origins do not have.
enum CacheSchema {
    static let version = 1

    static let statements = """
        CREATE TABLE cache (salt BLOB NOT NULL CHECK (length(salt) = 32)) STRICT;
        CREATE TABLE answer (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            scheme TEXT NOT NULL,
            host TEXT NOT NULL,
            port INTEGER NOT NULL,
            target TEXT NOT NULL,
            method TEXT NOT NULL CHECK (method IN ('GET', 'HEAD')),
            status INTEGER NOT NULL,
            head BLOB NOT NULL,
            stated_length INTEGER,
            credentials BLOB,
            is_for_everyone INTEGER NOT NULL,
            vary_names TEXT NOT NULL,
            vary_digest BLOB NOT NULL,
            requested_at INTEGER NOT NULL,
            answered_at INTEGER NOT NULL,
            initial_age INTEGER NOT NULL,
            made_at INTEGER NOT NULL,
            fresh_until INTEGER NOT NULL,
            used_at INTEGER NOT NULL,
            content_type TEXT,
            file TEXT UNIQUE,
            body_byte_count INTEGER NOT NULL,
            body_digest BLOB NOT NULL,
            byte_count INTEGER NOT NULL,
            CHECK ((file IS NULL) = (body_byte_count = 0))
        ) STRICT;
        CREATE INDEX answer_url ON answer (host, target, port, scheme);
        CREATE INDEX answer_use ON answer (used_at);
        CREATE INDEX answer_age ON answer (answered_at);
        """
}
