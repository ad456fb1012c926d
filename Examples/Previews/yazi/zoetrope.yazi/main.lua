-- Shows an animation as a contact sheet of the frames that differ most.
local M = {}

function M:peek(job)
  local cache = ya.file_cache(job)
  if not cache or not self:preload(job) then
    return
  end
  ya.image_show(cache, job.area)
  ya.preview_widgets(job, {})
end

function M:seek() end

function M:preload(job)
  local cache = ya.file_cache(job)
  if not cache or fs.cha(cache) then
    return true
  end
  local status = Command("zoetrope")
    :arg({
      "sheet", "--quiet", "--force", "--distinct", "9", "--columns", "3", "--size", "240x240",
      "--padding", "4", "-o", tostring(cache), "--", tostring(job.file.url),
    })
    :status()
  return status and status.success
end

return M
