import LayoverConfiguration
import LayoverStore

extension StoreOptions {
    init(_ settings: StoreSettings) {
        self.init(path: settings.file, spoolFolder: settings.spoolFolder)
        encryptFields = settings.encryptFields
    }
}
