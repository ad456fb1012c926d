internal import CDeflate
internal import CXXHash
internal import ZoetropeShims

/// The C libraries that this build decodes with, for bug reports and for checking against advisories.
public enum LinkedLibraries {
  /// Names and versions, such as `libpng 1.6.39`: of the library that runs for libpng and xxHash, of
  /// the headers it was built with for giflib and libdeflate, which do not say.
  public static var versions: [String] {
    // Both strings are NUL-terminated literals of the shims.
    let gif = unsafe String(cString: zt_gif_version())
    let png = unsafe String(cString: zt_png_version())
    let hash = Int(XXH_versionNumber())
    return [
      "giflib \(gif)", "libpng \(png)", "libdeflate \(LIBDEFLATE_VERSION_STRING)",
      "xxHash \(hash / 10000).\(hash / 100 % 100).\(hash % 100)",
    ]
  }
}
