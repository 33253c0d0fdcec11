// The words of the page: key -> [English, Chinese].
import { add } from './i18n.js';

add({
  'nav.status': ['Status', '状态'],
  'nav.requests': ['Requests', '请求'],
  'nav.settings': ['Settings', '设置'],
  'nav.plugins': ['Plugins', '插件'],

  'frame.skip': ['Skip to the content', '跳到内容'],
  'frame.views': ['Views', '视图'],
  'frame.live': ['live', '实时'],
  'frame.lost': ['no connection', '连接断开'],
  'frame.otherLanguage': ['中文', 'English'],
  'theme.auto': ['Theme: system', '主题：跟随系统'],
  'theme.light': ['Theme: light', '主题：浅色'],
  'theme.dark': ['Theme: dark', '主题：深色'],

  'dialog.cancel': ['Cancel', '取消'],
  'toast.undo': ['Undo', '撤销'],
  'toast.close': ['Close', '关闭'],

  'login.title': ['This gateway asks for its token', '这个网关需要令牌'],
  'login.why': ['It is the one in SPILLWAY_TOKEN, where spillway serve was started.', '就是启动 spillway serve 时 SPILLWAY_TOKEN 里的那个。'],
  'login.token': ['Token', '令牌'],
  'login.enter': ['Enter', '进入'],
  'login.wrong': ['That is not the token.', '令牌不对。'],

  'unit.ms': ['ms', '毫秒'],
  'unit.s': ['s', '秒'],
  'unit.min': ['min', '分'],
  'unit.h': ['h', '小时'],
  'unit.d': ['d', '天'],
});
