/// An entry that is being attempted, as the admin API shows it.
func entryJSON(_ number: Int, revision: Int = 1) -> String {
    """
    {"id":"\(number)0000000000000000000000000000000","ticket":null,"revision":\(revision),"state":"attempting","waitingFor":null,
    "why":null,"method":"POST","url":"http://shop.example/orders/\(number)","host":"shop.example","route":null,
    "policy":"default","lane":null,"priority":3,"attempts":1,"automaticLeft":null,
    "createdAt":"2026-01-01T00:00:00.000Z","parkedAt":"2026-01-01T00:00:00.000Z","nextAttemptAt":null,
    "expiresAt":"2026-01-01T00:00:00.000Z","lastFailure":{"kind":"connection_refused","phase":"connecting",
    "evidence":"neverSent","message":"x","at":"2026-01-01T00:00:00.000Z","curlCode":null,"osError":null},
    "client":{"address":"127.0.0.1:5","connected":true,"userAgent":null},"requestBytes":0,
    "bodyReplayable":true,"incident":null,"actions":[]}
    """
}
