import LayoverCore
import Testing

@testable import LayoverConfiguration

@Suite struct StoreSettingsTests {
    @Test func everyKeyReachesTheSettings() throws {
        let loaded = try load(
            """
            {"store": {"path": "data/l.sqlite", "spool": "/bodies", "history": "1d",
              "encryptFields": ["cookie", "AUTHORIZATION", "X-Api-Key", "api-key", "X-Access-Token", "X-AUTH-Token"]}}
            """)
        #expect(loaded.warnings == [])
        let store = loaded.settings.store
        #expect(store.path == "data/l.sqlite")
        #expect(store.spoolFolder == "/bodies")
        #expect(store.history == .seconds(24 * 3600))
        #expect(store.encryptFields == ["cookie", "AUTHORIZATION", "X-Api-Key", "api-key", "X-Access-Token", "X-AUTH-Token"])
    }

    @Test func variablesReachThemToo() throws {
        let loaded = try load(
            "{}",
            environment: [
                "LAYOVER_STORE_HISTORY": "30d",
                "LAYOVER_STORE_ENCRYPT_FIELDS": "Authorization, Cookie, X-Token",
            ])
        #expect(loaded.settings.store.history == .seconds(30 * 24 * 3600))
        #expect(loaded.settings.store.encryptFields == ["Authorization", "Cookie", "X-Token"])
    }

    /// An operator who lists an own field may forget that the list replaces the default one.
    @Test(arguments: [
        (#"["X-Api-Key"]"#, "Api-Key, Authorization, Cookie, X-Access-Token and X-Auth-Token"),
        (#"["authorization", "cookie", "api-key", "x-access-token", "x-API-key"]"#, "X-Auth-Token"),
        ("[]", "Api-Key, Authorization, Cookie, X-Access-Token, X-Api-Key and X-Auth-Token"),
    ])
    func unencryptedCredentialsCauseAWarning(list: String, names: String) throws {
        #expect(
            try load(#"{"store": {"encryptFields": \#(list)}}"#).warnings == [
                "store.encryptFields: does not list \(names), so these credentials are stored unencrypted."
            ])
    }

    @Test func fieldsOfRoutesAreEncryptedUnlessAListIsGiven() throws {
        let routes = #""routes": {"r": {"upstream": "https://a.example", "setFields": {"X-Tenant-Secret": "t", "X-Plain": "p"}}}"#
        let standard = try load("{\(routes)}")
        #expect(standard.settings.store.encryptsRouteFields && standard.warnings.isEmpty)
        #expect(standard.settings.routes.writtenFields == ["X-Plain", "X-Tenant-Secret"])
        let null = try load("{\(routes), " + #""store": {"encryptFields": null}}"#)
        #expect(null.settings.store == standard.settings.store && null.warnings.isEmpty)
        let listed = try load(
            "{\(routes), "
                + #""store": {"encryptFields": ["Authorization", "Cookie", "Api-Key", "X-Access-Token", "X-Api-Key", "X-Auth-Token"]}}"#)
        #expect(!listed.settings.store.encryptsRouteFields)
        #expect(
            listed.warnings == ["store.encryptFields: does not list X-Tenant-Secret, so these credentials are stored unencrypted."])
    }
}
